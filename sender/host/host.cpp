// SPDX-License-Identifier: BSD-3-Clause
// Checks lengths, checksums, addresses, ports, kinds and protocols of each frame in this order, and
// counts each frame that fails.
#include "sender/host/host.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "common/dpdk/buffer.h"
#include "common/protocols/random.h"
#include "common/wire/bytes.h"
#include "sender/host/neighbours.h"
#include "sender/receiver/reply.h"

namespace turnpike::sender {

using wire::FrameError;

namespace {

const config::Direction& port_of(const config::Topology& topology, uint32_t index) {
  const config::Host& h = topology.hosts[index];
  return topology.links[h.link].directions[h.end];
}

uint64_t port_seed(const config::Topology& topology, uint32_t index) {
  const config::Host& h = topology.hosts[index];
  return link_seed(topology.run.seed, topology.links[h.link].name, h.end);
}

}  // namespace

tl::expected<std::unique_ptr<Host>, std::string> Host::make(const config::Topology& topology,
                                                            uint32_t index, QueuePair& queue,
                                                            LcoreState& lcore,
                                                            const SinkParts& sink) {
  const config::Host& h = topology.hosts[index];
  auto strategy = make_strategy(h.strategy, h.budget);
  if (!strategy) return tl::unexpected("host " + h.name + ": no strategy \"" + h.strategy + "\"");
  std::unique_ptr<Host> host(new Host(topology, index, queue, lcore, std::move(strategy), sink));
  host->receiver_ =
      std::make_unique<Receiver>(sink.flows, sink.runs, host->totals_, sink.populated, sink.secret);
  return host;
}

Host::Host(const config::Topology& topology, uint32_t index, QueuePair& queue, LcoreState& lcore,
           std::unique_ptr<Strategy> strategy, const SinkParts& sink)
    : own_(topology.interface_of(topology.hosts[index])),
      groups_(topology, index, sink.run_secret),
      queue_(queue),
      index_(index),
      udp_port_(topology.run.udp_port),
      tx_(queue),
      paths_(topology, index, sink.populated),
      source_({.lcore = lcore,
               .totals = totals_,
               .delays = &delays_,
               .tx = tx_,
               .host = index,
               .paths = paths_,
               .budget = topology.hosts[index].budget,
               .strategy = std::move(strategy),
               .line_rate = bytes_per_second(port_of(topology, index).rate),
               .nic = Nic(port_of(topology, index), port_seed(topology, index))}),
      open_loop_(topology, index, lcore) {}

// A software pipeline: each step prefetches memory that the next step reads `apart` packets later,
// so that work on other packets hides the latency. Running one step for the whole burst would issue
// more prefetches than the core has line fill buffers.
uint16_t Host::receive(Nanos now) {
  std::array<rte_mbuf*, kBurst> burst;
  std::array<Kind, kBurst> kinds;
  std::array<const Flow*, kBurst> flows;  // by packet; null: no reply, or of an unknown flow
  const uint16_t n = queue_.rx(now, burst);
  const unsigned apart = std::min<unsigned>(n, kPrefetchDistance);
  const auto answered = [&](unsigned i) { return i < n ? flows[i] : nullptr; };
  for (unsigned i = 0; i < n + 4 * apart; ++i) {
    if (i + 1 < n) rte_prefetch0(rte_pktmbuf_mtod(burst[i + 1], void*));
    if (i < n) {
      kinds[i] = read(*burst[i], arrivals_[i]);
      flows[i] = kinds[i] == Kind::kAnswer ? source_.expect(arrivals_[i].header.flow) : nullptr;
    }
    unsigned at = i - apart;  // wraps to at least n where the step has no packet yet
    if (const Flow* flow = answered(at)) flow->prefetch();
    at -= apart;
    if (const Flow* flow = answered(at)) source_.expect_oldest(*flow);
    at -= apart;
    if (const Flow* flow = answered(at)) source_.expect_next(*flow);
    at -= apart;
    if (at >= n) continue;
    rte_mbuf* m = burst[at];
    if (handle(kinds[at], *m, arrivals_[at], now)) {
      if (!tx_.full()) {
        tx_.put(m);
        continue;
      }
      totals_.queue_full.add();
    }
    give_back(m);
  }
  return n;
}

Host::Kind Host::read(rte_mbuf& m, HostPacket& out) const {
  // The parsers need one segment. Turnpike's own frames fit in one; linearize others, or drop them.
  if (m.nb_segs > 1 && rte_pktmbuf_linearize(&m) != 0) return Kind::kBad;
  const std::span<const uint8_t> frame(rte_pktmbuf_mtod(&m, const uint8_t*), m.data_len);
  const FrameError error = wire::locate_udp(frame, out.at);
  if (error == FrameError::kNotIp || error == FrameError::kNotUdp) return Kind::kNotUdp;
  if (error != FrameError::kNone) return Kind::kBad;
  if ((m.ol_flags & kSumsChecked) != kSumsChecked &&
      wire::verify_checksums(frame, out.at) != FrameError::kNone) {
    return Kind::kBad;
  }
  return for_us(frame.data(), out) ? read_turnpike(frame.data(), out) : Kind::kForeign;
}

bool Host::for_us(const uint8_t* frame, HostPacket& out) const {
  const wire::UdpFrame& at = out.at;
  const uint8_t* ip = frame + at.ip;
  out.group = nullptr;
  if (at.ipv6 ? std::memcmp(ip + wire::kIpv6DestinationAt, own_.ipv6.address.data(), 16) == 0
              : wire::load_be32(ip + wire::kIpv4DestinationAt) == own_.ipv4.address)
    return true;
  out.group = groups_.find(frame, at);
  return out.group != nullptr;
}

Host::Kind Host::read_turnpike(const uint8_t* frame, HostPacket& out) const {
  switch (read_packet(frame, udp_port_, out)) {
    case PacketKind::kBad:
      return Kind::kBad;
    case PacketKind::kForeign: {
      const uint16_t to = wire::load_be16(frame + out.at.udp + wire::kUdpDestinationAt);
      return to == config::kStreamPort && out.group == nullptr ? Kind::kStream : Kind::kForeign;
    }
    case PacketKind::kRequest:
      // Requests go to a tree's receivers, answers to its root.
      return out.group == nullptr || out.group->receives ? Kind::kRequest : Kind::kForeign;
    case PacketKind::kAnswer:
      return out.group == nullptr || !out.group->receives ? Kind::kAnswer : Kind::kForeign;
  }
  return Kind::kBad;
}

bool Host::handle(Kind kind, rte_mbuf& m, const HostPacket& arrival, Nanos now) {
  switch (kind) {
    case Kind::kAnswer:
      take_answer(m, arrival, now);
      return false;
    case Kind::kRequest:
      return take_request(m, arrival, now);
    case Kind::kStream: {
      const wire::UdpFrame& at = arrival.at;
      const uint8_t* payload = rte_pktmbuf_mtod(&m, const uint8_t*) + at.payload;
      if (!open_loop_.meter().receive({payload, at.payload_size}, at.datagram, now))
        totals_.foreign_packets.add();
      return false;
    }
    case Kind::kNotUdp:
      if (answer_neighbour(m, own_) == NeighbourQuery::kAnswered) {
        totals_.answered_neighbours.add();
        return true;
      }
      [[fallthrough]];
    case Kind::kForeign:
      totals_.foreign_packets.add();
      return false;
    case Kind::kBad:
      totals_.bad_packets.add();
      return false;
  }
  return false;
}

bool Host::take_request(rte_mbuf& m, const HostPacket& arrival, Nanos now) {
  const wire::UdpFrame& at = arrival.at;
  auto* frame = rte_pktmbuf_mtod(&m, uint8_t*);
  const FlowKey key = flow_key(frame, arrival);
  const Request arrived{.header = arrival.header,
                        .protocol = *arrival.protocol,
                        .size = at.datagram,
                        .congestion = frame + at.payload + wire::kHeaderSize,
                        .empty = at.payload_size == arrival.header.length,
                        .key = arrival.group != nullptr ? &arrival.group->key : nullptr};
  const auto reply = receiver_->receive(key, arrived, now);
  if (!reply) return false;
  if (arrival.group != nullptr) answer_to_group(frame + at.ip, at.ipv6, own_);
  if (write_reply(m, at, arrival.header, *reply)) return true;
  totals_.out_of_buffers.add();
  return false;
}

void Host::take_answer(const rte_mbuf& m, const ReceivedPacket& arrival, Nanos now) {
  const auto* frame = rte_pktmbuf_mtod(&m, const uint8_t*);
  std::array<wire::SeqRange, wire::kMaxRanges> ranges;
  source_.on_answer(arrival.header.flow, ack_info(frame, arrival, ranges), arrival.header.protocol,
                    wire::load_be16(frame + arrival.at.udp + wire::kUdpDestinationAt), now);
}

void Host::publish() {
  totals_.budget.store(source_.ledger().budget(), std::memory_order_relaxed);
  totals_.committed.store(source_.ledger().committed(), std::memory_order_relaxed);
}

}  // namespace turnpike::sender
