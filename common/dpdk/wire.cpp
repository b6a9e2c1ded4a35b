// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/wire.h"

#include <algorithm>
#include <array>
#include <bit>

#include <rte_mbuf.h>

namespace turnpike {

namespace {
constexpr size_t kBurst = 64;
// Bursts that one call moves at most: bounded work per poll, yet more than a port's queue holds.
constexpr int kRounds = 32;
}  // namespace

Wire::Line::Line(uint32_t capacity)
    : entries_(std::bit_ceil(std::max(capacity, 1U))),
      capacity_(capacity),
      mask_(static_cast<uint32_t>(entries_.size() - 1)) {}

bool Wire::Line::push(rte_mbuf* packet, Nanos due) {
  if (size() == capacity_) return false;
  entries_[tail_++ & mask_] = {due, packet};
  return true;
}

uint16_t Wire::Line::due(Nanos now, std::span<rte_mbuf*> out) const {
  const uint32_t most = std::min<uint32_t>(size(), static_cast<uint32_t>(out.size()));
  uint16_t n = 0;
  for (; n < most && at(head_ + n).due <= now; ++n) out[n] = at(head_ + n).packet;
  return n;
}

Nanos Wire::Line::next() const { return size() == 0 ? kNever : at(head_).due; }

Wire::Wire(QueuePair& inner, const Options& options)
    : inner_(inner),
      rx_delay_(options.rx_delay),
      tx_delay_(options.tx_delay),
      rx_line_(options.capacity),
      tx_line_(options.capacity) {}

Wire::~Wire() {
  free_all(rx_line_);
  free_all(tx_line_);
}

void Wire::free_all(Line& line) {
  rte_mbuf* packet = nullptr;
  while (line.due(kNever, {&packet, 1}) == 1) {
    rte_pktmbuf_free(packet);
    line.pop(1);
  }
}

void Wire::launch(Line& line, std::span<rte_mbuf*> burst, Nanos due) {
  for (rte_mbuf* packet : burst) {
    if (line.push(packet, due)) continue;
    rte_pktmbuf_free(packet);
    overflowed_.store(overflowed() + 1, std::memory_order_relaxed);
  }
}

void Wire::send_due(Nanos now) {
  std::array<rte_mbuf*, kBurst> burst;
  for (int round = 0; round < kRounds; ++round) {
    const uint16_t n = tx_line_.due(now, burst);
    if (n == 0) return;
    const uint16_t sent = inner_.tx(now, {burst.data(), n});
    tx_line_.pop(sent);
    if (sent < n) return;  // the port is full: the rest is late
  }
}

uint16_t Wire::rx(Nanos now, std::span<rte_mbuf*> out) {
  send_due(now);
  std::array<rte_mbuf*, kBurst> burst;
  for (int round = 0; round < kRounds; ++round) {
    const uint16_t n = inner_.rx(now, burst);
    launch(rx_line_, {burst.data(), n}, now + rx_delay_);
    if (n < kBurst) break;
  }
  const uint16_t n = rx_line_.due(now, out);
  rx_line_.pop(n);
  return n;
}

uint16_t Wire::tx(Nanos now, std::span<rte_mbuf*> burst) {
  launch(tx_line_, burst, now + tx_delay_);
  send_due(now);
  return static_cast<uint16_t>(burst.size());
}

Nanos Wire::next_deadline() const {
  return std::min({rx_line_.next(), tx_line_.next(), inner_.next_deadline()});
}

uint32_t Wire::held() const { return rx_line_.size() + tx_line_.size() + inner_.held(); }

}  // namespace turnpike
