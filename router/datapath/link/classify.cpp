// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/link/classify.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <variant>

#include "common/wire/bytes.h"
#include "common/wire/dscp.h"
#include "common/wire/layers.h"

namespace turnpike::router {

/// The addresses and ports of a packet.
struct Classifier::Fields {
  const uint8_t* ip = nullptr;
  bool ipv6 = false;
  uint16_t source_port = 0, destination_port = 0;  // UDP; 0: none
};

namespace {

uint64_t load_be64(const uint8_t* p) {
  return uint64_t{wire::load_be32(p)} << 32 | wire::load_be32(p + 4);
}

/// The upper `length` bits of 64, for 0 to 64.
uint64_t mask_of(unsigned length) { return length == 0 ? 0 : ~uint64_t{0} << (64 - length); }

}  // namespace

Classifier::Prefixes Classifier::compile(
    const std::vector<std::variant<config::Ipv4Prefix, config::Ipv6Prefix>>& all) {
  Prefixes out;
  out.any = all.empty();
  for (const auto& prefix : all) {
    if (const auto* v4 = std::get_if<config::Ipv4Prefix>(&prefix)) {
      const auto mask = static_cast<uint32_t>(mask_of(v4->length) >> 32);
      out.v4.push_back({v4->address & mask, mask});
    } else {
      const auto& v6 = std::get<config::Ipv6Prefix>(prefix);
      const unsigned length = v6.length;
      Prefix6 p{};
      p.mask = {mask_of(std::min(length, 64U)), mask_of(length > 64 ? length - 64 : 0)};
      for (size_t i = 0; i < 2; ++i)
        p.address[i] = load_be64(v6.address.data() + 8 * i) & p.mask[i];
      out.v6.push_back(p);
    }
  }
  return out;
}

Classifier::Conditions Classifier::compile(const config::ClassMatch& m) {
  Conditions out;
  for (const unsigned p : m.port) out.ports.push_back(static_cast<uint16_t>(p));
  out.source = compile(m.source);
  out.destination = compile(m.destination);
  return out;
}

Classifier::Classifier(std::span<const config::LinkClass> classes) {
  const auto lists = [](const std::vector<unsigned>& all, size_t v) {
    return all.empty() || std::ranges::find(all, v) != all.end();
  };
  for (const config::LinkClass& c : classes.first(classes.size() - 1)) {
    const auto bit = static_cast<Set>(1U << rules_.size());
    Set dscp[64], protocol[256], priced[2];
    std::ranges::fill(dscp, bit);
    std::ranges::fill(protocol, bit);
    std::ranges::fill(priced, bit);
    for (const config::ClassMatch* m : {&c.match, &c.parent_match}) {
      for (size_t d = 0; d < 64; ++d) dscp[d] = lists(m->dscp, d) ? dscp[d] : 0;
      for (size_t p = 0; p < 256; ++p) protocol[p] = lists(m->protocol, p) ? protocol[p] : 0;
      if (m->unpriced) priced[*m->unpriced ? 1 : 0] = 0;
      if (!m->port.empty() || !m->source.empty() || !m->destination.empty()) complex_ |= bit;
    }
    for (size_t d = 0; d < 64; ++d) dscp_[d] |= dscp[d];
    for (size_t p = 0; p < 256; ++p) protocol_[p] |= protocol[p];
    for (size_t p = 0; p < 2; ++p) priced_[p] |= priced[p];
    rules_.push_back({compile(c.match), compile(c.parent_match)});
  }
}

bool Classifier::within(const Prefixes& prefixes, const Fields& packet, bool source) {
  if (packet.ipv6) {
    const uint8_t* at = packet.ip + (source ? wire::kIpv6SourceAt : wire::kIpv6DestinationAt);
    const uint64_t high = load_be64(at), low = load_be64(at + 8);
    return std::ranges::any_of(prefixes.v6, [&](const Prefix6& p) {
      return (high & p.mask[0]) == p.address[0] && (low & p.mask[1]) == p.address[1];
    });
  }
  const uint32_t address =
      wire::load_be32(packet.ip + (source ? wire::kIpv4SourceAt : wire::kIpv4DestinationAt));
  return std::ranges::any_of(prefixes.v4,
                             [&](const Prefix4& p) { return (address & p.mask) == p.address; });
}

bool Classifier::hold(const Conditions& all, const Fields& packet) {
  if (!all.ports.empty() && std::ranges::none_of(all.ports, [&](uint16_t p) {
        return p == packet.source_port || p == packet.destination_port;
      }))
    return false;
  return (all.source.any || within(all.source, packet, true)) &&
         (all.destination.any || within(all.destination, packet, false));
}

void Classifier::classify(const Burst& burst, uint32_t members, uint8_t protocol,
                          std::array<uint8_t, kBurst>& classes) const {
  const auto last = static_cast<uint8_t>(rules_.size());
  for_each(members, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    const uint8_t* ip = frame_of(burst.mbufs[i]) + p.l3;
    const bool priced = p.congestion != 0 && p.protocol == protocol;
    Set fit = dscp_[wire::dscp_of(ip)] & protocol_[p.l4_protocol] & priced_[priced ? 1 : 0];
    if (p.has(kArp)) [[unlikely]]
      fit = 0;
    if ((fit & complex_) != 0) fit = matching(burst, i, fit);
    classes[i] = fit == 0 ? last : static_cast<uint8_t>(std::countr_zero(fit));
  });
}

// Leaves in `fit` a rule that also fits the packet's ports and addresses, if there is one.
Classifier::Set Classifier::matching(const Burst& burst, unsigned i, Set fit) const {
  const PacketInfo& p = burst.info[i];
  const uint8_t* frame = frame_of(burst.mbufs[i]);
  Fields f{.ip = frame + p.l3, .ipv6 = p.has(kIpv6)};
  const bool udp = p.l4_protocol == wire::kProtocolUdp && p.l4 != 0 && !p.has(kLaterFragment) &&
                   p.l4 + wire::kUdpSize <= burst.mbufs[i]->data_len;
  if (udp) {
    f.source_port = wire::load_be16(frame + p.l4 + wire::kUdpSourceAt);
    f.destination_port = wire::load_be16(frame + p.l4 + wire::kUdpDestinationAt);
  }
  for (; fit != 0; fit &= fit - 1)
    if (const Rule& rule = rules_[static_cast<size_t>(std::countr_zero(fit))];
        hold(rule.own, f) && hold(rule.outer, f))
      break;
  return fit;
}

}  // namespace turnpike::router
