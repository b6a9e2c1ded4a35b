// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/multicast/answers.h"

#include <algorithm>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/ingress/segments.h"
#include "router/datapath/lookup/lookup.h"

namespace turnpike::router {

namespace {

using wire::Kind;

AnswerOutcome dropped(DropReason why) { return {AnswerResult::kDrop, why}; }

/// The kind of request that an answer of this kind answers.
Kind request_of(Kind answer) {
  switch (answer) {
    case Kind::kSynAck:
      return Kind::kSyn;
    case Kind::kFinAck:
      return Kind::kFin;
    default:
      return Kind::kData;
  }
}

uint8_t* congestion_of(rte_mbuf& m, const PacketInfo& p) {
  return frame_of(&m) + p.l4 + wire::kUdpSize + wire::kHeaderSize;
}

/// Why an answer is invalid. Decodes its header. parse() has checked lengths up to the header's.
DropReason read_answer(rte_mbuf& m, const PacketInfo& p, wire::Header& header) {
  if (!p.has(kTurnpike) || p.congestion != 0) return DropReason::kMulticast;
  if (p.protocol != fcp::kProtocolId) return DropReason::kMulticast;
  // The joined answer is written in place.
  if (m.nb_segs != 1 || !RTE_MBUF_DIRECT(&m) || rte_mbuf_refcnt_read(&m) != 1)
    return DropReason::kScatteredHeaders;
  const uint8_t* payload = frame_of(&m) + p.l4 + wire::kUdpSize;
  const uint32_t size = m.data_len - (p.l4 + uint32_t{wire::kUdpSize});
  if (wire::decode({payload, size}, header) != wire::HeaderError::kNone ||
      header.length != wire::header_length(fcp::kHeaderSize, header.ranges))
    return DropReason::kTurnpikeLength;
  return fcp::credible(fcp::load(congestion_of(m, p))) ? DropReason::kNone
                                                       : DropReason::kBadCongestionHeader;
}

/// Writes the joined answer into the packet that completed it, and its lengths and checksums.
/// False: the buffer has no room for the ranges.
bool write_answer(rte_mbuf& m, PacketInfo& p, wire::Header header, const JoinedAnswer& joined) {
  const uint16_t length = wire::header_length(fcp::kHeaderSize, joined.ranges);
  const auto udp_length = static_cast<uint16_t>(wire::kUdpSize + length);
  const auto end = static_cast<uint16_t>(p.l4 + udp_length);
  if (end > m.data_len && end - m.data_len > rte_pktmbuf_tailroom(&m)) return false;
  m.data_len = end;
  m.pkt_len = end;
  p.datagram = static_cast<uint16_t>(end - p.l3);

  uint8_t* ip = frame_of(&m) + p.l3;
  uint8_t* udp = frame_of(&m) + p.l4;
  uint8_t* payload = udp + wire::kUdpSize;
  header.ranges = joined.ranges;
  header.length = length;
  header.acknowledgement = joined.acknowledgement;
  wire::encode(header, payload);
  for (size_t i = 0; i < joined.ranges; ++i) wire::store_range(header, payload, i, joined.range[i]);
  fcp::store_branch(joined.header, header.kind == Kind::kSynAck, payload + wire::kHeaderSize);

  wire::store_be16(udp + wire::kUdpLengthAt, udp_length);
  if (p.has(kIpv6)) {
    wire::store_be16(ip + wire::kIpv6PayloadLengthAt,
                     static_cast<uint16_t>(p.datagram - wire::kIpv6Size));
  } else {
    wire::store_be16(ip + wire::kIpv4TotalLengthAt, p.datagram);
    wire::store_be16(ip + wire::kIpv4ChecksumAt, 0);
    wire::store_be16(ip + wire::kIpv4ChecksumAt,
                     wire::checksum_of(wire::sum_words({ip, static_cast<size_t>(p.l4 - p.l3)})));
  }
  if (wire::load_be16(udp + wire::kUdpChecksumAt) == 0) return true;
  wire::store_be16(udp + wire::kUdpChecksumAt, 0);
  const uint32_t pseudo =
      p.has(kIpv6)
          ? wire::pseudo_header_sum(ip + wire::kIpv6SourceAt, ip + wire::kIpv6DestinationAt,
                                    wire::kProtocolUdp, udp_length)
          : wire::pseudo_header_sum(wire::load_be32(ip + wire::kIpv4SourceAt),
                                    wire::load_be32(ip + wire::kIpv4DestinationAt),
                                    wire::kProtocolUdp, udp_length);
  wire::store_be16(udp + wire::kUdpChecksumAt,
                   wire::udp_checksum_of(uint64_t{pseudo} + wire::sum_words({udp, udp_length})));
  return true;
}

}  // namespace

AnswerOutcome take_answer(rte_mbuf& m, PacketInfo& p, const TreeEntry& tree, TreeState& state,
                          Nanos now) {
  const auto branch = static_cast<unsigned>(
      std::ranges::find(tree.children, p.input, &NextHop::link) - tree.children.begin());
  set_hop(p, *tree.upstream);
  if (branch == tree.children.size()) return dropped(DropReason::kMulticast);
  wire::Header header;
  if (const DropReason why = read_answer(m, p, header); why != DropReason::kNone)
    return dropped(why);
  const uint8_t* ip = frame_of(&m) + p.l3;
  if (ip[p.has(kIpv6) ? wire::kIpv6HopLimitAt : wire::kIpv4TtlAt] <= 1)
    return dropped(DropReason::kTtlExpired);

  const RequestId id{header.flow, header.sequence, static_cast<uint8_t>(request_of(header.kind))};
  const auto upstream = state.find_price(id);
  TreeFlow* flow = state.find(header.flow);
  if (flow == nullptr && upstream) flow = state.begin(header.flow, now);
  if (flow == nullptr) return dropped(DropReason::kMulticast);
  if (header.kind == Kind::kReset)
    return {flow->leave(branch) ? AnswerResult::kSend : AnswerResult::kTaken};
  // A restarted sender may choose the same number.
  if (header.kind == Kind::kSynAck && flow->under_way() && upstream) flow->begin(header.flow, now);

  std::array<wire::SeqRange, wire::kMaxRanges> ranges;
  const uint8_t* payload = frame_of(&m) + p.l4 + wire::kUdpSize;
  for (size_t i = 0; i < header.ranges; ++i) ranges[i] = wire::load_range(header, payload, i);
  const BranchReport report{.request = id,
                            .kind = header.kind,
                            .acknowledgement = header.acknowledgement,
                            .echo = header.echo,
                            .ranges = {ranges.data(), header.ranges},
                            .header = fcp::load_branch(congestion_of(m, p))};
  JoinedAnswer joined;
  if (!flow->join(branch, report, upstream.value_or(flow->upstream()), state.logs(), now,
                  tree.timeout, joined))
    return {AnswerResult::kTaken};
  if (!write_answer(m, p, header, joined)) return dropped(DropReason::kNoMbuf);
  set_hop(p, *tree.upstream);
  return {AnswerResult::kSend};
}

}  // namespace turnpike::router
