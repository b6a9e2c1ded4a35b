// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/local/icmp.h"

#include <algorithm>
#include <optional>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/local/packet_sum.h"
#include "router/datapath/local/reply.h"

namespace turnpike::router {

namespace {

constexpr size_t kIcmpSize = 8;
constexpr size_t kIcmpChecksumAt = 2;
constexpr uint32_t kMaxError = 576;           // B of the datagram, RFC 1812 4.3.2.3
constexpr uint8_t kErrorPrecedence = 6 << 5;  // internetwork control, RFC 1812 4.3.2.5

enum Type : uint8_t {
  kEchoReply = 0,
  kUnreachable = 3,
  kSourceQuench = 4,
  kRedirect = 5,
  kEcho = 8,
  kTimeExceeded = 11,
  kParameterProblem = 12,
};

bool is_error(uint8_t type) {
  return type == kUnreachable || type == kSourceQuench || type == kRedirect ||
         type == kTimeExceeded || type == kParameterProblem;
}

struct ErrorMessage {
  uint8_t type, code;
};

std::optional<ErrorMessage> message_for(DropReason why) {
  switch (why) {
    case DropReason::kTtlExpired:
      return ErrorMessage{kTimeExceeded, 0};
    case DropReason::kNoRoute:
      return ErrorMessage{kUnreachable, 0};
    case DropReason::kNoNeighbour:
    case DropReason::kUnreachable:
      return ErrorMessage{kUnreachable, 1};
    case DropReason::kProhibited:
      return ErrorMessage{kUnreachable, 13};  // RFC 1812 5.2.7.1
    case DropReason::kProtocolUnreachable:
      return ErrorMessage{kUnreachable, 2};
    case DropReason::kPortUnreachable:
      return ErrorMessage{kUnreachable, 3};
    case DropReason::kTooBig:
      return ErrorMessage{kUnreachable, 4};
    default:
      return std::nullopt;
  }
}

bool may_be_reported(const rte_mbuf& m, const PacketInfo& p) {
  if (p.has(kLaterFragment) || p.has(kLinkCast) || p.has(kGroup) || p.l4 == 0) return false;
  if (p.l4_protocol != kIcmp) return true;
  // A truncated ICMP message might be an error: sends no report.
  return m.data_len > p.l4 && !is_error(rte_pktmbuf_mtod(&m, const uint8_t*)[p.l4]);
}

void write_ip(uint8_t* ip, uint16_t datagram, uint32_t source, uint32_t destination) {
  std::memset(ip, 0, wire::kIpv4Size);
  ip[0] = 0x45;
  ip[1] = kErrorPrecedence;
  wire::store_be16(ip + wire::kIpv4TotalLengthAt, datagram);
  ip[wire::kIpv4TtlAt] = kDefaultTtl;
  ip[wire::kIpv4ProtocolAt] = kIcmp;
  wire::store_be32(ip + wire::kIpv4SourceAt, source);
  wire::store_be32(ip + wire::kIpv4DestinationAt, destination);
  wire::store_be16(ip + wire::kIpv4ChecksumAt,
                   wire::checksum_of(wire::sum_words({ip, wire::kIpv4Size})));
}

}  // namespace

DropReason answer_echo(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out) {
  const uint32_t end = uint32_t{p.l3} + p.datagram;
  if (m.data_len < p.l4 + kIcmpSize || p.l4 + kIcmpSize > end) return DropReason::kBadIcmp;
  uint8_t* icmp = frame_of(&m) + p.l4;
  if (sum_of_packet(m, p.l4, end - p.l4) != 0xffff) return DropReason::kBadIcmp;
  uint8_t* ip = frame_of(&m) + p.l3;
  const uint32_t asker = wire::load_be32(ip + wire::kIpv4SourceAt);
  const NextHop& hop = context.routes->find(asker);
  if (icmp[0] != kEcho || hop.action != NextHop::Action::kForward) {
    rte_pktmbuf_free(&m);
    return DropReason::kNone;
  }
  if (p.datagram > hop.mtu) return DropReason::kFragmentFailed;

  const uint16_t before = wire::load_be16(icmp);
  icmp[0] = kEchoReply;
  wire::store_be16(icmp + kIcmpChecksumAt,
                   wire::update_checksum(wire::load_be16(icmp + kIcmpChecksumAt), before,
                                         wire::load_be16(icmp)));
  std::memcpy(ip + wire::kIpv4SourceAt, ip + wire::kIpv4DestinationAt, 4);
  wire::store_be32(ip + wire::kIpv4DestinationAt, asker);
  ip[wire::kIpv4TtlAt] = kDefaultTtl;
  wire::store_be16(ip + wire::kIpv4ChecksumAt, 0);
  wire::store_be16(ip + wire::kIpv4ChecksumAt,
                   wire::checksum_of(wire::sum_words({ip, static_cast<size_t>(p.l4 - p.l3)})));
  send_by(m, p, hop, context, out);
  return DropReason::kNone;
}

void report_error(const rte_mbuf& m, const PacketInfo& p, DropReason why, WorkerContext& context,
                  LocalTx& out, Nanos now) {
  const auto message = message_for(why);
  if (!message || !may_be_reported(m, p)) return;
  const uint8_t* asked = rte_pktmbuf_mtod(&m, const uint8_t*) + p.l3;
  const uint32_t source = wire::load_be32(asked + wire::kIpv4SourceAt);
  const NextHop& hop = context.routes->find(source);
  if (hop.action != NextHop::Action::kForward) return;
  if (!context.errors.take(now)) return context.counters->suppressed_errors.add();

  constexpr uint32_t kHeaders = wire::kIpv4Size + kIcmpSize;
  const uint32_t quote =
      std::min<uint32_t>(p.datagram, std::clamp<uint32_t>(hop.mtu, kHeaders, kMaxError) - kHeaders);
  const auto datagram = static_cast<uint16_t>(kHeaders + quote);
  rte_mbuf* reply = make_frame(m, p, static_cast<uint16_t>(p.l3 + datagram), context);
  if (reply == nullptr) return context.counters->suppressed_errors.add();

  uint8_t* ip = frame_of(reply) + p.l3;
  uint8_t* icmp = ip + wire::kIpv4Size;
  write_ip(ip, datagram, context.tables->stations()[hop.link].ipv4.address, source);
  std::memset(icmp, 0, kIcmpSize);
  icmp[0] = message->type;
  icmp[1] = message->code;
  if (why == DropReason::kTooBig) wire::store_be16(icmp + 6, p.hop->mtu);  // RFC 1191 section 4
  copy_from_packet(m, p.l3, quote, icmp + kIcmpSize);
  wire::store_be16(icmp + kIcmpChecksumAt,
                   wire::checksum_of(wire::sum_words({icmp, kIcmpSize + quote})));

  PacketInfo info{.l3 = p.l3, .datagram = datagram, .input = p.input};
  info.flags = static_cast<uint16_t>(p.flags & kVlan);
  send_by(*reply, info, hop, context, out);
}

}  // namespace turnpike::router
