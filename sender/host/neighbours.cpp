// SPDX-License-Identifier: BSD-3-Clause
// Writes both answers into the query's buffer.
#include "sender/host/neighbours.h"

#include <algorithm>
#include <array>
#include <span>

#include <rte_mbuf.h>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "common/wire/layers.h"

namespace turnpike::sender {
namespace {

using namespace wire;

constexpr uint16_t kEtherTypeArp = 0x0806;
constexpr size_t kArpSize = 28;
constexpr size_t kSourceMacAt = 6;

// Offsets in an ARP packet for IPv4 over Ethernet.
constexpr size_t kOperationAt = 6, kSenderMacAt = 8, kSenderIpAt = 14, kTargetMacAt = 18,
                 kTargetIpAt = 24;
constexpr uint16_t kRequest = 1, kReply = 2;
constexpr std::array<uint8_t, 6> kIpv4OverEthernet{0, 1, 8, 0, 6, 4};

// Offsets in a neighbour solicitation or advertisement: 24 B, then options.
constexpr uint8_t kProtocolIcmpv6 = 58, kSolicitation = 135, kAdvertisement = 136;
constexpr size_t kIcmpChecksumAt = 2, kFlagsAt = 4, kTargetAt = 8, kOptionsAt = 24;
constexpr uint8_t kTargetLinkLayer = 2;  // option type; its length is 1 unit of 8 B
constexpr uint32_t kSolicitedOverride = 3U << 29;
constexpr uint8_t kHopLimit = 255;  // RFC 4861, section 7.1.1: other values came through a router

void readdress(uint8_t* frame, const config::Mac& own) {
  std::copy_n(frame + kSourceMacAt, wire::kMacSize, frame);
  std::ranges::copy(own, frame + kSourceMacAt);
}

NeighbourQuery answer_arp(rte_mbuf& m, uint8_t* frame, const config::Interface& own) {
  uint8_t* arp = frame + kEthernetSize;
  if (m.data_len < kEthernetSize + kArpSize ||
      !std::ranges::equal(kIpv4OverEthernet, std::span(arp, kIpv4OverEthernet.size())) ||
      load_be16(arp + kOperationAt) != kRequest ||
      load_be32(arp + kTargetIpAt) != own.ipv4.address) {
    return NeighbourQuery::kIgnored;
  }
  readdress(frame, own.mac);
  store_be16(arp + kOperationAt, kReply);
  std::copy_n(arp + kSenderMacAt, wire::kMacSize + 4, arp + kTargetMacAt);
  std::ranges::copy(own.mac, arp + kSenderMacAt);
  store_be32(arp + kSenderIpAt, own.ipv4.address);
  return NeighbourQuery::kAnswered;
}

NeighbourQuery answer_solicitation(rte_mbuf& m, uint8_t* frame, const config::Interface& own) {
  uint8_t* ip = frame + kEthernetSize;
  uint8_t* icmp = ip + kIpv6Size;
  const size_t length = load_be16(ip + kIpv6PayloadLengthAt);
  const std::span<const uint8_t> message(icmp, std::min<size_t>(length, m.data_len));
  const bool no_source =
      std::ranges::all_of(std::span(ip + kIpv6SourceAt, 16), [](uint8_t b) { return b == 0; });
  // The unspecified source address marks duplicate address detection (RFC 4862, section 5.4): the
  // topology assigns addresses, so do not answer.
  if (ip[kIpv6HopLimitAt] != kHopLimit || no_source || length < kOptionsAt ||
      kEthernetSize + kIpv6Size + length > m.data_len ||
      !std::ranges::equal(std::span(icmp + kTargetAt, 16), own.ipv6.address) ||
      fold(pseudo_header_sum(ip + kIpv6SourceAt, ip + kIpv6DestinationAt, kProtocolIcmpv6,
                             static_cast<uint32_t>(length)) +
           sum_words(message)) != 0xffff) {
    return NeighbourQuery::kIgnored;
  }
  constexpr uint16_t kLength = kOptionsAt + 8;
  const size_t size = kEthernetSize + kIpv6Size + kLength;
  if (size > size_t{m.data_len} + rte_pktmbuf_tailroom(&m)) return NeighbourQuery::kIgnored;
  m.data_len = static_cast<uint16_t>(size);
  m.pkt_len = m.data_len;

  readdress(frame, own.mac);
  store_be16(ip + kIpv6PayloadLengthAt, kLength);
  std::copy_n(ip + kIpv6SourceAt, 16, ip + kIpv6DestinationAt);
  std::ranges::copy(own.ipv6.address, ip + kIpv6SourceAt);
  icmp[0] = kAdvertisement;
  icmp[1] = 0;
  store_be16(icmp + kIcmpChecksumAt, 0);
  store_be32(icmp + kFlagsAt, kSolicitedOverride);
  icmp[kOptionsAt] = kTargetLinkLayer;
  icmp[kOptionsAt + 1] = 1;
  std::ranges::copy(own.mac, icmp + kOptionsAt + 2);
  const uint32_t pseudo = pseudo_header_sum(ip + kIpv6SourceAt, ip + kIpv6DestinationAt,
                                            kProtocolIcmpv6, uint32_t{kLength});
  store_be16(icmp + kIcmpChecksumAt, checksum_of(pseudo + sum_words({icmp, kLength})));
  return NeighbourQuery::kAnswered;
}

}  // namespace

NeighbourQuery answer_neighbour(rte_mbuf& m, const config::Interface& own) {
  auto* frame = rte_pktmbuf_mtod(&m, uint8_t*);
  if (m.data_len < kEthernetSize) return NeighbourQuery::kNone;
  const uint16_t type = load_be16(frame + kEtherTypeAt);
  if (type == kEtherTypeArp) return answer_arp(m, frame, own);
  if (type != kEtherTypeIpv6 || m.data_len <= kEthernetSize + kIpv6Size) {
    return NeighbourQuery::kNone;
  }
  const uint8_t* ip = frame + kEthernetSize;
  if (ip[kIpv6NextHeaderAt] != kProtocolIcmpv6 || ip[kIpv6Size] != kSolicitation) {
    return NeighbourQuery::kNone;
  }
  return answer_solicitation(m, frame, own);
}

}  // namespace turnpike::sender
