// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/local/neighbour.h"

#include <algorithm>
#include <iterator>

#include "common/wire/bytes.h"
#include "router/datapath/ingress/segments.h"
#include "router/datapath/local/icmp6.h"
#include "router/datapath/local/reply.h"

namespace turnpike::router {

namespace {

// ICMPv6 types and options (RFC 4861 4.3, 4.4, 4.6.1); offsets and sizes in B.
constexpr uint8_t kNeighbourSolicitation = 135, kNeighbourAdvertisement = 136;
constexpr uint8_t kSourceLinkLayerOption = 1, kTargetLinkLayerOption = 2;
constexpr size_t kNdCodeAt = 1, kNdFlagsAt = 4, kNdTargetAt = 8, kOptionsAt = 24,
                 kAdvertisementSize = 32;
constexpr uint8_t kNdHopLimit = 255;  // a forwarded packet has less: the sender is on the link
constexpr uint32_t kRouterFlag = 1U << 31, kSolicitedFlag = 1U << 30, kOverrideFlag = 1U << 29;
constexpr config::Ipv6 kAllNodes{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

/// Whether the address is in ff02::1:ff00:0/104 (RFC 4291 2.7.1).
bool is_solicited_node(const uint8_t* address) {
  constexpr uint8_t kPrefix[13] = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
  return std::equal(std::begin(kPrefix), std::end(kPrefix), address);
}

// RFC 4861 7.1.1; the caller has checked the checksum. A zero-length option is invalid and would
// loop forever.
bool valid_solicitation(const uint8_t* ip, const uint8_t* message, size_t size) {
  if (ip[wire::kIpv6HopLimitAt] != kNdHopLimit || message[kNdCodeAt] != 0 || size < kOptionsAt)
    return false;
  if (is_multicast(message + kNdTargetAt)) return false;
  // Duplicate address detection (RFC 4862) asks from the unspecified address, the solicited-node
  // group.
  const bool is_dad = is_unspecified(ip + wire::kIpv6SourceAt);
  if (is_dad && !is_solicited_node(ip + wire::kIpv6DestinationAt)) return false;
  for (size_t at = kOptionsAt; at < size;) {
    if (at + 2 > size || message[at + 1] == 0) return false;
    const size_t length = message[at + 1] * size_t{8};
    if (at + length > size) return false;
    if (is_dad && message[at] == kSourceLinkLayerOption) return false;
    at += length;
  }
  return true;
}

}  // namespace

DropReason answer_neighbour(rte_mbuf& m, const PacketInfo& p, WorkerContext& context,
                            LocalTx& out) {
  uint8_t* ip = frame_of(&m) + p.l3;
  uint8_t* message = frame_of(&m) + p.l4;
  if (message[0] != kNeighbourSolicitation) return DropReason::kForeignNeighbour;
  const size_t size = static_cast<size_t>(p.l3) + p.datagram - p.l4;
  if (m.data_len < p.l4 + size || !valid_solicitation(ip, message, size))
    return DropReason::kBadNeighbour;
  const Station& self = context.tables->stations()[p.input];
  const config::Ipv6 target = load_ipv6(message + kNdTargetAt);
  if (target != self.ipv6.address && target != self.link_local)
    return DropReason::kForeignNeighbour;

  // The advertisement has a link-layer option that the shortest solicitation lacks.
  const uint32_t end = p.l4 + static_cast<uint32_t>(kAdvertisementSize);
  if (m.pkt_len < end && rte_pktmbuf_append(&m, static_cast<uint16_t>(end - m.pkt_len)) == nullptr)
    return DropReason::kNoMbuf;
  // RFC 4861 7.2.4: to all nodes and not Solicited if the source was unspecified.
  const bool is_dad = is_unspecified(ip + wire::kIpv6SourceAt);
  std::memcpy(ip + wire::kIpv6DestinationAt, is_dad ? kAllNodes.data() : ip + wire::kIpv6SourceAt,
              16);
  std::memcpy(ip + wire::kIpv6SourceAt, target.data(), target.size());
  message[0] = kNeighbourAdvertisement;
  wire::store_be32(message + kNdFlagsAt,
                   kRouterFlag | kOverrideFlag | (is_dad ? 0 : kSolicitedFlag));
  message[kOptionsAt] = kTargetLinkLayerOption;
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
