// SPDX-License-Identifier: BSD-3-Clause
// Nothing that comes in is trusted: lengths, checksums, addresses, ports, kinds and protocols are
// checked in this order, and whatever fails ends in a counter.
#include "sender/host.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <rte_mbuf.h>

#include "common/dpdk/buffer.h"
#include "common/wire/bytes.h"
#include "sender/neighbours.h"
#include "sender/reply.h"

namespace turnpike::sender {

using wire::FrameError;
using wire::Kind;

namespace {

const config::Direction& port_of(const config::Topology& topology, uint32_t index) {
  const config::Host& h = topology.hosts[index];
  return topology.links[h.link].directions[h.end];
}

}  // namespace

tl::expected<std::unique_ptr<Host>, std::string> Host::make(const config::Topology& topology,
                                                            uint32_t index, QueuePair& queue,
                                                            Lane& lane, SinkSize sink) {
  const config::Host& h = topology.hosts[index];
  auto strategy = make_strategy(h.strategy, h.budget);
  if (!strategy) return tl::unexpected("host " + h.name + ": no strategy \"" + h.strategy + "\"");
  std::unique_ptr<Host> host(new Host(topology, index, queue, lane, std::move(strategy)));
  auto receiver = Receiver::make(sink.flows, sink.runs, host->totals_);
  if (!receiver) return tl::unexpected("host " + h.name + ": " + receiver.error());
  host->receiver_ = std::move(*receiver);
  return host;
}

Host::Host(const config::Topology& topology, uint32_t index, QueuePair& queue, Lane& lane,
           std::unique_ptr<Strategy> strategy)
    : own_(topology.interface_of(topology.hosts[index])),
      queue_(queue),
      index_(index),
      udp_port_(topology.run.udp_port),
      outbox_(queue),
      source_({.lane = lane,
               .totals = totals_,
               .outbox = outbox_,
               .host = index,
               .paths = Paths(topology, index),
               .budget = topology.hosts[index].budget,
               .strategy = std::move(strategy),
               .line_rate = bytes_per_second(port_of(topology, index).rate),
               .nic = Nic(port_of(topology, index))}),
      open_loop_(topology, index, lane) {}

uint16_t Host::receive(Nanos now) {
  std::array<rte_mbuf*, kBurst> burst;
  const uint16_t n = queue_.rx(now, burst);
  for (uint16_t i = 0; i < n; ++i) {
    if (i + 1 < n) __builtin_prefetch(rte_pktmbuf_mtod(burst[i + 1], void*));
    rte_mbuf* m = burst[i];
    // Frames this small come in one piece; one that does not is made so, or is nothing of ours.
    if (m->nb_segs > 1 && rte_pktmbuf_linearize(m) != 0) {
      totals_.bad_packets.add();
    } else if (handle(*m, now)) {
      if (!outbox_.full()) {
        outbox_.put(m);
        continue;
      }
      totals_.out_of_buffers.add();
    }
    give_back(m);
  }
  return n;
}

bool Host::handle(rte_mbuf& m, Nanos now) {
  const std::span<const uint8_t> frame(rte_pktmbuf_mtod(&m, const uint8_t*), m.data_len);
  wire::UdpFrame at;
  switch (wire::locate_udp(frame, at)) {
    case FrameError::kNone:
      break;
    case FrameError::kNotIp:
    case FrameError::kNotUdp:
      if (answer_neighbour(m, own_) == NeighbourQuery::kAnswered) {
        totals_.answered_neighbours.add();
        return true;
      }
      totals_.foreign_packets.add();
      return false;
    default:
      totals_.bad_packets.add();
      return false;
  }
  if ((m.ol_flags & kSumsChecked) != kSumsChecked &&
      wire::verify_checksums(frame, at) != FrameError::kNone) {
    totals_.bad_packets.add();
    return false;
  }
  if (!for_us(frame.data(), at)) {
    totals_.foreign_packets.add();
    return false;
  }
  return handle_turnpike(m, at, now);
}

bool Host::for_us(const uint8_t* frame, const wire::UdpFrame& at) const {
  const uint8_t* ip = frame + at.ip;
  if (at.ipv6) return std::memcmp(ip + wire::kIpv6DestinationAt, own_.ipv6.address.data(), 16) == 0;
  return wire::load_be32(ip + wire::kIpv4DestinationAt) == own_.ipv4.address;
}

bool Host::handle_turnpike(rte_mbuf& m, const wire::UdpFrame& at, Nanos now) {
  auto* frame = rte_pktmbuf_mtod(&m, uint8_t*);
  const std::span<uint8_t> payload(frame + at.payload, at.payload_size);
  const uint16_t from = wire::load_be16(frame + at.udp + wire::kUdpSourceAt);
  const uint16_t to = wire::load_be16(frame + at.udp + wire::kUdpDestinationAt);
  if (from != udp_port_ && to != udp_port_) {
    if (to == config::kStreamPort && open_loop_.meter().receive(payload, at.datagram, now))
      return false;
    totals_.foreign_packets.add();
    return false;
  }
  wire::Header header;
  const bool sound = wire::decode(payload, header) == wire::HeaderError::kNone;
  const Protocol* protocol = sound ? find_protocol(header.protocol) : nullptr;
  if (protocol == nullptr ||
      header.length != wire::header_length(protocol->header_size, header.ranges)) {
    totals_.bad_packets.add();
    return false;
  }

  const bool request =
      header.kind == Kind::kSyn || header.kind == Kind::kData || header.kind == Kind::kFin;
  if ((request ? to : from) != udp_port_ || (request && header.ranges != 0)) {
    totals_.bad_packets.add();
    return false;
  }
  if (request) {
    FlowKey key{
        .flow = header.flow, .port = from, .ip_version = at.ipv6 ? uint16_t{6} : uint16_t{4}};
    const size_t source = at.ipv6 ? wire::kIpv6SourceAt : wire::kIpv4SourceAt;
    std::memcpy(key.source.data(), frame + at.ip + source, at.ipv6 ? 16 : 4);
    const Request arrived{.header = header,
                          .protocol = *protocol,
                          .size = at.datagram,
                          .congestion = payload.data() + wire::kHeaderSize,
                          .empty = payload.size() == header.length};
    const auto reply = receiver_->receive(key, arrived, now);
    if (!reply) return false;
    if (write_reply(m, at, header, *reply, now)) return true;
    totals_.out_of_buffers.add();
    return false;
  }

  std::array<wire::SeqRange, wire::kMaxRanges> ranges;
  for (size_t i = 0; i < header.ranges; ++i) {
    ranges[i] = wire::load_range(header, payload.data(), i);
  }
  source_.on_answer(header.flow,
                    {.kind = header.kind,
                     .sequence = header.sequence,
                     .acknowledgement = header.acknowledgement,
                     .echo = header.echo,
                     .ranges = {ranges.data(), header.ranges},
                     .congestion = payload.data() + wire::kHeaderSize},
                    header.protocol, to, now);
  return false;
}

void Host::publish() {
  totals_.budget.store(source_.ledger().budget(), std::memory_order_relaxed);
  totals_.committed.store(source_.ledger().committed(), std::memory_order_relaxed);
}

}  // namespace turnpike::sender
