// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/rss_steering.h"

#include <algorithm>

namespace turnpike {

namespace {

/// Buffers that a driver may have taken out of the ring and not yet handed over: the stage of
/// receive functions with bulk allocation (RTE_PMD_IXGBE_RX_MAX_BURST and the like are 32).
constexpr uint32_t kStaged = 64;

void add(std::atomic<uint64_t>& counter, uint64_t n) {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

bool hashed(const rte_mbuf& m) { return (m.ol_flags & RTE_MBUF_F_RX_RSS_HASH) != 0; }

}  // namespace

void RssSteering::discard() {
  for (; count_ > 0; --count_, ++head_) {
    rte_pktmbuf_free(fifo_[head_ % kSlots]);
    add(ports_[move_.port]->queues[move_.to].dropped, 1);
  }
}

unsigned RssSteering::add_port(uint16_t buckets, uint16_t queues) {
  auto port = std::make_unique<Port>();
  port->mask = static_cast<uint16_t>(buckets - 1);
  port->queues = std::vector<Queue>(queues);
  for (Queue& q : port->queues) q.packets = std::vector<std::atomic<uint64_t>>(buckets);
  ports_.push_back(std::move(port));
  return static_cast<unsigned>(ports_.size() - 1);
}

void RssSteering::begin(const Move& move) {
  move_ = move;
  buckets_.fill(0);
  for (const uint16_t b : move.buckets) buckets_[b / 64] |= uint64_t{1} << (b % 64);
  taken_ = false;
  received_ = 0;
  if (++number_ == 0) number_ = 1;
  word_.store(Word{.number = number_,
                   .from = move.from,
                   .to = move.to,
                   .port = static_cast<uint8_t>(move.port),
                   .phase = kPark}
                  .packed(),
              std::memory_order_release);
}

bool RssSteering::parks() const { return parking_.load(std::memory_order_acquire) == number_; }

void RssSteering::table_written(Nanos now) {
  written_ = now;
  Word w = word();
  w.phase = kDrain;
  word_.store(w.packed(), std::memory_order_release);
}

void RssSteering::left(Nanos now) {
  left_at_.store(now.count(), std::memory_order_relaxed);
  Word w = word();
  w.phase = kLeft;
  word_.store(w.packed(), std::memory_order_release);
}

uint64_t RssSteering::counted(unsigned port, uint16_t queue, uint16_t bucket) const {
  return ports_[port]->queues[queue].packets[bucket].load(std::memory_order_relaxed);
}

uint64_t RssSteering::dropped(unsigned port) const {
  uint64_t n = 0;
  for (const Queue& q : ports_[port]->queues) n += q.dropped.load(std::memory_order_relaxed);
  return n;
}

bool RssSteering::all_passed(const Port& port, uint16_t number) const {
  return std::ranges::all_of(port.queues, [number](const Queue& q) {
    return q.passed.load(std::memory_order_acquire) == number;
  });
}

// Parked packets leave before the target receives again. It has `passed` itself in a poll that
// began after `left_at_`, so that packets which it passes on from now on arrive later than those of
// the source, as far as the router counts: the owner of a shaped link orders the rings of all
// lcores by the time of arrival.
uint16_t RssSteering::release(unsigned port, uint16_t queue, std::span<rte_mbuf*> out) {
  const Word w = word();
  if (w.phase != kLeft || w.port != port || w.to != queue) return 0;
  if (!all_passed(*ports_[port], w.number)) return 0;
  uint16_t n = 0;
  for (; n < out.size() && count_ > 0; --count_, ++head_) out[n++] = fifo_[head_ % kSlots];
  parked_.store(count_, std::memory_order_relaxed);
  if (n == 0) word_.store(0, std::memory_order_release);
  return n;
}

uint16_t RssSteering::observe(unsigned port, uint16_t queue, Nanos now, std::span<rte_mbuf*> burst,
                              bool empty) {
  const Word w = word();
  const auto received = static_cast<uint16_t>(burst.size());
  Port& own = *ports_[port];
  if (w.phase == kCount) count(own.queues[queue], own.mask, burst);
  if (w.phase < kPark || w.port != port) return received;
  if (w.phase == kDrain && w.from == queue) watch_source(now, burst.size(), empty);
  if (w.phase == kLeft && now.count() > left_at_.load(std::memory_order_relaxed))
    own.queues[queue].passed.store(w.number, std::memory_order_release);
  if (w.to != queue) return received;
  const uint16_t kept = park(own, own.queues[queue], burst);
  parking_.store(w.number, std::memory_order_release);
  return kept;
}

void RssSteering::count(Queue& queue, uint16_t mask, std::span<rte_mbuf*> burst) {
  for (const rte_mbuf* m : burst)
    if (hashed(*m)) add(queue.packets[m->hash.rss & mask], 1);
}

// An empty ring has nothing that came before. An lcore that is overloaded never finds it empty; but
// the ring is a FIFO, and its descriptors bound what was in it.
void RssSteering::watch_source(Nanos now, size_t received, bool empty) {
  if (taken_ || now < written_ + kTableDelay) return;
  received_ += received;
  taken_ = empty || received_ >= uint64_t{move_.rx_descriptors} + kStaged;
}

uint16_t RssSteering::park(Port& port, Queue& queue, std::span<rte_mbuf*> burst) {
  uint16_t kept = 0;
  for (rte_mbuf* m : burst) {
    if (!hashed(*m) || !moves(static_cast<uint16_t>(m->hash.rss & port.mask))) {
      burst[kept++] = m;
    } else if (count_ < kSlots) {
      fifo_[(head_ + count_++) % kSlots] = m;
    } else {
      rte_pktmbuf_free(m);
      add(queue.dropped, 1);
    }
  }
  parked_.store(count_, std::memory_order_relaxed);
  return kept;
}

}  // namespace turnpike
