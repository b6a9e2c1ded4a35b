// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/local/neighbour.h"

#include "common/wire/bytes.h"
#include "router/datapath/ingress/segments.h"
#include "router/datapath/local/icmp6.h"
#include "router/datapath/local/reply.h"

namespace turnpike::router {

namespace {

constexpr uint8_t kSolicitation = 135, kAdvertisement = 136;
constexpr uint8_t kSourceLinkAddress = 1, kTargetLinkAddress = 2;
constexpr size_t kNdTargetAt = 8, kOptionsAt = 24, kAdvertisementSize = 32;
constexpr uint8_t kNeverForwarded = 255;  // hop limit that only packets from the same link can have
constexpr uint32_t kRouterFlag = 1U << 31, kSolicitedFlag = 1U << 30, kOverrideFlag = 1U << 29;
constexpr config::Ipv6 kAllNodes{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

// RFC 4861 7.1.1. A zero-length option would loop forever.
bool sound(const uint8_t* ip, const uint8_t* message, size_t size) {
  if (ip[wire::kIpv6HopLimitAt] != kNeverForwarded || message[1] != 0 || size < kOptionsAt)
    return false;
  if (is_multicast(message + kNdTargetAt)) return false;
  const bool no_source = is_unspecified(ip + wire::kIpv6SourceAt);
  for (size_t at = kOptionsAt; at < size;) {
    if (at + 2 > size || message[at + 1] == 0) return false;
    const size_t length = message[at + 1] * size_t{8};
    if (at + length > size) return false;
    if (no_source && message[at] == kSourceLinkAddress) return false;
    at += length;
  }
  return true;
}

}  // namespace

DropReason answer_neighbour(rte_mbuf& m, const PacketInfo& p, WorkerContext& context,
                            LocalTx& out) {
  uint8_t* ip = frame_of(&m) + p.l3;
  uint8_t* message = frame_of(&m) + p.l4;
  if (message[0] != kSolicitation) return DropReason::kForeignNeighbour;
  const size_t size = static_cast<size_t>(p.l3) + p.datagram - p.l4;
  if (m.data_len < p.l4 + size || !sound(ip, message, size)) return DropReason::kBadNeighbour;
  const Station& self = context.tables->stations()[p.input];
  const config::Ipv6 target = load_ipv6(message + kNdTargetAt);
  if (target != self.ipv6.address && target != self.link_local)
    return DropReason::kForeignNeighbour;

  // The advertisement has one option more than the shortest solicitation, and may need more room.
  const uint32_t end = p.l4 + static_cast<uint32_t>(kAdvertisementSize);
  if (m.pkt_len < end && rte_pktmbuf_append(&m, static_cast<uint16_t>(end - m.pkt_len)) == nullptr)
    return DropReason::kNoMbuf;
  const bool asked_by_host = !is_unspecified(ip + wire::kIpv6SourceAt);
  std::memcpy(ip + wire::kIpv6DestinationAt,
              asked_by_host ? ip + wire::kIpv6SourceAt : kAllNodes.data(), 16);
  std::memcpy(ip + wire::kIpv6SourceAt, target.data(), target.size());
  message[0] = kAdvertisement;
  wire::store_be32(message + 4, kRouterFlag | kOverrideFlag | (asked_by_host ? kSolicitedFlag : 0));
  message[kOptionsAt] = kTargetLinkAddress;
  message[kOptionsAt + 1] = 1;
  std::memcpy(message + kOptionsAt + 2, self.mac.data(), self.mac.size());
  PacketInfo answer = p;
  answer.datagram = static_cast<uint16_t>(p.l4 - p.l3 + kAdvertisementSize);
  wire::store_be16(ip + wire::kIpv6PayloadLengthAt,
                   static_cast<uint16_t>(answer.datagram - wire::kIpv6Size));
  if (m.pkt_len > end) cut_to(&m, end);
  write_icmp6_checksum(m, answer);
  return send_back(m, answer, answer.datagram, context, out);
}

}  // namespace turnpike::router
