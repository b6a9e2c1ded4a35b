// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/delay_line.h"

#include <algorithm>
#include <array>
#include <bit>

#include <rte_mbuf.h>

namespace turnpike {

namespace {
constexpr size_t kBurst = 64;
// Bursts that one call moves at most: bounds the work per poll; more than a port's queue holds.
constexpr int kRounds = 32;
}  // namespace

DelayLine::Direction::Direction(uint32_t capacity)
    : entries_(std::bit_ceil(std::max(capacity, 1U))),
      capacity_(capacity),
      mask_(static_cast<uint32_t>(entries_.size() - 1)) {}

bool DelayLine::Direction::push(rte_mbuf* packet, Nanos due) {
  if (size() == capacity_) return false;
  entries_[tail_++ & mask_] = {due, packet};
  return true;
}

uint16_t DelayLine::Direction::due(Nanos now, std::span<rte_mbuf*> out) const {
  const uint32_t most = std::min<uint32_t>(size(), static_cast<uint32_t>(out.size()));
  uint16_t n = 0;
  for (; n < most && at(head_ + n).due <= now; ++n) out[n] = at(head_ + n).packet;
  return n;
}

Nanos DelayLine::Direction::next() const { return size() == 0 ? kNever : at(head_).due; }

DelayLine::DelayLine(QueuePair& inner, const Options& options)
    : inner_(inner),
      rx_delay_(options.rx_delay),
      tx_delay_(options.tx_delay),
      rx_(options.capacity),
      tx_(options.capacity) {}

DelayLine::~DelayLine() {
  free_all(rx_);
  free_all(tx_);
}

void DelayLine::free_all(Direction& direction) {
  rte_mbuf* packet = nullptr;
  while (direction.due(kNever, {&packet, 1}) == 1) {
    rte_pktmbuf_free(packet);
    direction.pop(1);
  }
}

void DelayLine::launch(Direction& direction, std::span<rte_mbuf*> burst, Nanos due) {
  for (rte_mbuf* packet : burst) {
    if (direction.push(packet, due)) continue;
    rte_pktmbuf_free(packet);
    overflowed_.store(overflowed() + 1, std::memory_order_relaxed);
  }
}

void DelayLine::send_due(Nanos now) {
  std::array<rte_mbuf*, kBurst> burst;
  for (int round = 0; round < kRounds; ++round) {
    const uint16_t n = tx_.due(now, burst);
    if (n == 0) return;
    const uint16_t sent = inner_.tx(now, {burst.data(), n});
    tx_.pop(sent);
    if (sent < n) return;  // the port is full: the rest is late
  }
}

uint16_t DelayLine::rx(Nanos now, std::span<rte_mbuf*> out) {
  send_due(now);
  std::array<rte_mbuf*, kBurst> burst;
  for (int round = 0; round < kRounds; ++round) {
    const uint16_t n = inner_.rx(now, burst);
    launch(rx_, {burst.data(), n}, now + rx_delay_);
    if (n < kBurst) break;
  }
  const uint16_t n = rx_.due(now, out);
  rx_.pop(n);
  return n;
}

uint16_t DelayLine::tx(Nanos now, std::span<rte_mbuf*> burst) {
  send_due(now);
  if (tx_.next() <= now) return 0;  // the port is full
  launch(tx_, burst, now + tx_delay_);
  if (tx_delay_ == Nanos(0)) send_due(now);
  return static_cast<uint16_t>(burst.size());
}

Nanos DelayLine::next_deadline() const {
  return min(min(rx_.next(), tx_.next()), inner_.next_deadline());
}

uint32_t DelayLine::held() const { return rx_.size() + tx_.size() + inner_.held(); }

}  // namespace turnpike
