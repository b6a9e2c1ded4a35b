// SPDX-License-Identifier: BSD-3-Clause
#include "lab/simulator/sim_link.h"

#include <algorithm>
#include <array>

#include <rte_hash_crc.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "common/dpdk/buffer.h"
#include "common/wire/layers.h"

namespace turnpike::lab {
namespace {

// The backlog that a port accepts beyond the wire's, as a NIC's descriptors do.
constexpr Nanos kMaxBacklog = 10_ms;
// Entries from the head that SimChannel::Queue::take() prefetches: two cache lines.
constexpr uint32_t kEntriesAhead = 8;

/// Hashes the fields that NICs hash for receive-side scaling: addresses and ports.
uint32_t flow_hash(const rte_mbuf* m) {
  wire::UdpFrame at;
  const std::span<const uint8_t> frame(rte_pktmbuf_mtod(m, const uint8_t*), m->data_len);
  if (wire::locate_udp(frame, at) != wire::FrameError::kNone) return 0;
  const size_t addresses = at.ip + (at.ipv6 ? wire::kIpv6SourceAt : wire::kIpv4SourceAt);
  // rte_hash_crc reads whole words: from where they are aligned.
  alignas(8) std::array<uint8_t, 32 + 4> key{};
  const size_t length = at.ipv6 ? 32 : 8;
  std::copy_n(frame.data() + addresses, length, key.data());
  std::copy_n(frame.data() + at.udp, 4, key.data() + length);
  return rte_hash_crc(key.data(), static_cast<uint32_t>(length) + 4, 0);
}

/// Prefetches the used parts of a packet on its way: the mbuf's first line and the frame's headers.
void prefetch(rte_mbuf* packet) {
  rte_prefetch0(packet);
  for (const size_t at : {size_t{0}, size_t{64}}) prefetch_frame(packet, at);
}

}  // namespace

void SimChannel::Queue::grow() {
  const uint32_t mask = 2 * mask_ + 1;
  std::vector<Entry> larger(mask + 1);
  for (uint32_t i = head_; i != tail_; ++i) larger[i & mask] = at(i);
  entries_ = std::move(larger);
  mask_ = mask;
}

void SimChannel::Queue::insert(rte_mbuf* packet, Nanos due) {
  append(packet, due);
  uint32_t i = tail_ - 1;
  for (; i != head_ && at(i - 1).due > due; --i) at(i) = at(i - 1);  // a packet that is overtaken
  at(i) = {due, packet};
  next_ = at(head_).due;
}

uint16_t SimChannel::Queue::take(Nanos now, std::span<rte_mbuf*> out) {
  uint16_t n = 0;
  for (; n < out.size() && head_ != tail_ && at(head_).due <= now; ++head_, ++n)
    out[n] = at(head_).packet;
  next_ = size() == 0 ? kNever : at(head_).due;
  // Thousands of other packets were sent since these were, so they have left the cache, and their
  // entries, too. Prefetches as many as arrived now, the best estimate for the next call.
  rte_prefetch0(&at(head_ + n + kEntriesAhead));
  const uint32_t ahead = std::min<uint32_t>(n, size());
  for (uint32_t i = 0; i < ahead; ++i) prefetch(at(head_ + i).packet);
  return n;
}

SimChannel::SimChannel(const SimLinkOptions& options, Schedule& schedule,
                       std::vector<SimReceiver> receivers, bool apart)
    : options_(options),
      apart_(apart),
      straight_(receivers.size() == 1 && options.jitter == Nanos(0) && options.loss == 0 &&
                options.reorder == 0 && !apart),
      nanos_per_byte_(options.rate == 0 ? 0 : 1e9 / options.rate),
      receivers_(std::move(receivers)),
      random_(options.seed, options.stream),
      schedule_(schedule) {
  for (const SimReceiver& r : receivers_) queues_.emplace_back(*r.next);
}

SimChannel::~SimChannel() {
  for (Box& box : boxes_)
    for (const Box::Packet& p : box.packets) rte_pktmbuf_free(p.packet);
  for (Queue& q : queues_) {
    rte_mbuf* packet = nullptr;
    while (q.take(kNever, {&packet, 1}) == 1) rte_pktmbuf_free(packet);
  }
}

size_t SimChannel::queue_of(rte_mbuf* packet) const {
  return queues_.size() == 1 ? 0 : flow_hash(packet) % queues_.size();
}

void SimChannel::launch(rte_mbuf* packet, Nanos leaves) {
  if (queues_.empty()) return rte_pktmbuf_free(packet);  // an external host, not simulated
  Nanos due = leaves + options_.delay;
  if (options_.loss > 0 && random_.uniform() < options_.loss) {
    rte_pktmbuf_free(packet);
    ++lost_;
    return;
  }
  if (options_.jitter > Nanos(0)) {
    const auto most = static_cast<double>(options_.jitter.count());
    due = latest_ = std::max(latest_, due + Nanos(static_cast<int64_t>(random_.uniform() * most)));
  }
  if (options_.reorder > 0 && random_.uniform() < options_.reorder) due += options_.delay / 4;
  const size_t queue = queue_of(packet);
  if (!apart_) return arrive(packet, due, queue);
  Box& box = boxes_[filled_];
  box.packets.push_back({due, packet, queue});
  box.earliest = min(box.earliest, due);
}

void SimChannel::deliver() {
  Box& box = boxes_[delivered_ ^= 1];
  for (const Box::Packet& p : box.packets) arrive(p.packet, p.due, p.queue);
  box.packets.clear();
}

template <class Launch>
uint16_t SimChannel::send_at_rate(Nanos now, std::span<rte_mbuf*> burst, Launch&& launch) {
  const auto checked = [](rte_mbuf* packet) {
    packet->ol_flags = kSumsChecked;  // as the receiving NIC would: memory does not corrupt packets
    return packet;
  };
  if (nanos_per_byte_ == 0) {
    for (rte_mbuf* packet : burst) launch(checked(packet), now);
    return static_cast<uint16_t>(burst.size());
  }
  uint16_t n = 0;
  for (; n < burst.size() && free_ <= now + kMaxBacklog; ++n) {
    if (free_ < now) {
      free_ = now;
      fraction_ = 0;
    }
    const double size = burst[n]->pkt_len - wire::kEthernetSize + options_.overhead;
    launch(checked(burst[n]), free_);
    fraction_ += size * nanos_per_byte_;
    const auto whole = static_cast<int64_t>(fraction_);
    free_ += Nanos(whole);
    fraction_ -= static_cast<double>(whole);
  }
  return n;
}

uint16_t SimChannel::send(Nanos now, std::span<rte_mbuf*> burst) {
  if (!straight_)
    return send_at_rate(now, burst, [&](rte_mbuf* packet, Nanos at) { launch(packet, at); });
  Queue& queue = queues_.front();
  const bool waiting = queue.size() > 0;  // the receiver has a deadline already
  const uint16_t n = send_at_rate(
      now, burst, [&](rte_mbuf* packet, Nanos at) { queue.append(packet, at + options_.delay); });
  if (!waiting) schedule_.wake(receivers_.front().node, queue.next());
  return n;
}

SimLink::SimLink(const std::array<SimLinkOptions, 2>& wires,
                 const std::array<SimLinkNodes, 2>& nodes) {
  const bool apart = nodes[0].schedule != nodes[1].schedule;
  for (size_t i = 0; i < 2; ++i)
    channels_[i] =
        std::make_unique<SimChannel>(wires[i], *nodes[1 - i].schedule, nodes[1 - i].nodes, apart);
  for (size_t i = 0; i < 2; ++i)
    for (size_t q = 0; q < nodes[i].nodes.size(); ++q)
      ends_[i].emplace_back(*channels_[1 - i], *channels_[i], q);
}

}  // namespace turnpike::lab
