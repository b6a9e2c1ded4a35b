// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/local/icmp6.h"

#include <algorithm>
#include <optional>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/local/packet_sum.h"
#include "router/datapath/local/reply.h"

namespace turnpike::router {

namespace {

constexpr size_t kIcmp6Size = 8;
constexpr size_t kIcmp6ChecksumAt = 2;
constexpr uint32_t kMaxIcmp6Error = 1280;  // B of the datagram: IPv6's minimum MTU

struct Icmp6 {
  enum Type : uint8_t {
    kUnreachable = 1,
    kPacketTooBig = 2,
    kTimeExceeded = 3,
    kParameterProblem = 4,
    kLastError = 127,
    kEcho = 128,
    kEchoReply = 129,
    kRedirect = 137,
  };
};

struct Icmp6Message {
  uint8_t type, code;
  uint32_t parameter;  // MTU, or the offset of the unrecognised field
};

std::optional<Icmp6Message> icmp6_message_for(DropReason why, const PacketInfo& p) {
  switch (why) {
    case DropReason::kTtlExpired:
      return Icmp6Message{Icmp6::kTimeExceeded, 0, 0};
    case DropReason::kNoRoute:
      return Icmp6Message{Icmp6::kUnreachable, 0, 0};
    case DropReason::kUnreachable:  // a reject route, RFC 4443 3.1
      return Icmp6Message{Icmp6::kUnreachable, 6, 0};
    case DropReason::kProhibited:
      return Icmp6Message{Icmp6::kUnreachable, 1, 0};
    case DropReason::kNoNeighbour:
      return Icmp6Message{Icmp6::kUnreachable, 3, 0};
    case DropReason::kPortUnreachable:
      return Icmp6Message{Icmp6::kUnreachable, 4, 0};
    // RFC 8200 section 4: unrecognised next header; without extensions it is the IPv6 header's own
    // field.
    case DropReason::kProtocolUnreachable:
      return Icmp6Message{Icmp6::kParameterProblem, 1,
                          static_cast<uint32_t>(wire::kIpv6NextHeaderAt)};
    case DropReason::kTooBig:
      return Icmp6Message{Icmp6::kPacketTooBig, 0, p.hop->mtu};
    default:
      return std::nullopt;
  }
}

bool may_be_reported6(const rte_mbuf& m, const PacketInfo& p) {
  const uint8_t* frame = rte_pktmbuf_mtod(&m, const uint8_t*);
  const uint8_t* ip = frame + p.l3;
  if (p.has(kLaterFragment) || p.has(kLinkCast) || p.has(kGroup) || p.l4 == 0) return false;
  if (is_unspecified(ip + wire::kIpv6SourceAt)) return false;
  if (p.l4_protocol != kIcmp6) return true;
  if (m.data_len <= p.l4) return false;
  return frame[p.l4] > Icmp6::kLastError && frame[p.l4] != Icmp6::kRedirect;
}

uint16_t checksum_over(const rte_mbuf& m, const PacketInfo& p) {
  const uint8_t* ip = rte_pktmbuf_mtod(&m, const uint8_t*) + p.l3;
  const uint32_t length = uint32_t{p.l3} + p.datagram - p.l4;
  const uint32_t pseudo = wire::pseudo_header_sum(ip + wire::kIpv6SourceAt,
                                                  ip + wire::kIpv6DestinationAt, kIcmp6, length);
  return wire::checksum_of(uint64_t{pseudo} + sum_of_packet(m, p.l4, length));
}

void write_ip(uint8_t* ip, uint16_t payload, const config::Ipv6& source,
              const config::Ipv6& destination) {
  wire::store_be32(ip, uint32_t{6} << 28);
  wire::store_be16(ip + wire::kIpv6PayloadLengthAt, payload);
  ip[wire::kIpv6NextHeaderAt] = kIcmp6;
  ip[wire::kIpv6HopLimitAt] = kDefaultTtl;
  std::memcpy(ip + wire::kIpv6SourceAt, source.data(), source.size());
  std::memcpy(ip + wire::kIpv6DestinationAt, destination.data(), destination.size());
}

}  // namespace

bool valid_icmp6(const rte_mbuf& m, const PacketInfo& p) {
  if (p.l4 == 0 || m.data_len < p.l4 + kIcmp6Size ||
      p.l4 + kIcmp6Size > uint32_t{p.l3} + p.datagram) {
    return false;
  }
  return checksum_over(m, p) == 0;
}

void write_icmp6_checksum(rte_mbuf& m, const PacketInfo& p) {
  uint8_t* at = frame_of(&m) + p.l4 + kIcmp6ChecksumAt;
  wire::store_be16(at, 0);
  wire::store_be16(at, checksum_over(m, p));
}

DropReason answer_echo6(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out) {
  uint8_t* icmp = frame_of(&m) + p.l4;
  uint8_t* ip = frame_of(&m) + p.l3;
  const config::Ipv6 asker = load_ipv6(ip + wire::kIpv6SourceAt);
  const bool on_link = is_link_local(asker.data());
  const NextHop& hop = context.routes->find(asker);
  if (icmp[0] != Icmp6::kEcho || is_multicast(ip + wire::kIpv6DestinationAt) ||
      (!on_link && hop.action != NextHop::Action::kForward)) {
    rte_pktmbuf_free(&m);
    return DropReason::kNone;
  }
  if (!on_link && p.datagram > hop.mtu) return DropReason::kFragmentFailed;

  const uint16_t before = wire::load_be16(icmp);
  icmp[0] = Icmp6::kEchoReply;
  // The pseudo-header's sum is the same after source and destination are swapped.
  wire::store_be16(icmp + kIcmp6ChecksumAt,
                   wire::update_checksum(wire::load_be16(icmp + kIcmp6ChecksumAt), before,
                                         wire::load_be16(icmp)));
  std::memcpy(ip + wire::kIpv6SourceAt, ip + wire::kIpv6DestinationAt, 16);
  std::memcpy(ip + wire::kIpv6DestinationAt, asker.data(), asker.size());
  ip[wire::kIpv6HopLimitAt] = kDefaultTtl;
  if (on_link) return send_back(m, p, p.datagram, context, out);
  send_by(m, p, hop, context, out);
  return DropReason::kNone;
}

void report_error6(const rte_mbuf& m, const PacketInfo& p, DropReason why, WorkerContext& context,
                   LocalTx& out, Nanos now) {
  const auto message = icmp6_message_for(why, p);
  if (!message || !may_be_reported6(m, p)) return;
  const uint8_t* asked = rte_pktmbuf_mtod(&m, const uint8_t*) + p.l3;
  const config::Ipv6 source = load_ipv6(asked + wire::kIpv6SourceAt);
  const NextHop& hop = context.routes->find(source);
  if (hop.action != NextHop::Action::kForward) return;
  if (!context.errors.take(now)) return context.counters->suppressed_errors.add();

  constexpr uint32_t kHeaders = wire::kIpv6Size + kIcmp6Size;
  const uint32_t quote = std::min<uint32_t>(
      p.datagram, std::clamp<uint32_t>(hop.mtu, kHeaders, kMaxIcmp6Error) - kHeaders);
  const auto datagram = static_cast<uint16_t>(kHeaders + quote);
  rte_mbuf* reply = make_frame(m, p, static_cast<uint16_t>(p.l3 + datagram), context);
  if (reply == nullptr) return context.counters->suppressed_errors.add();

  uint8_t* ip = frame_of(reply) + p.l3;
  uint8_t* icmp = ip + wire::kIpv6Size;
  write_ip(ip, static_cast<uint16_t>(kIcmp6Size + quote),
           context.tables->stations()[hop.link].ipv6.address, source);
  icmp[0] = message->type;
  icmp[1] = message->code;
  wire::store_be32(icmp + 4, message->parameter);
  copy_from_packet(m, p.l3, quote, icmp + kIcmp6Size);

  PacketInfo info{.l3 = p.l3, .datagram = datagram, .input = p.input};
  info.l4 = static_cast<uint16_t>(p.l3 + wire::kIpv6Size);
  info.flags = static_cast<uint16_t>(p.flags & (kVlan | kIpv6));
  write_icmp6_checksum(*reply, info);
  send_by(*reply, info, hop, context, out);
}

}  // namespace turnpike::router
