// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/trace_json.h"

#include <string>

#include "common/config/address.h"
#include "common/protocols/fcp/header.h"
#include "common/protocols/registry.h"
#include "common/wire/bytes.h"
#include "common/wire/layers.h"
#include "common/wire/turnpike_header.h"
#include "router/datapath/ingress/ip.h"

namespace turnpike::router {
namespace {

// By NextHop::Action.
constexpr std::array<std::string_view, 11> kActions{
    "forward", "local",      "no_route",  "no_neighbour", "broadcast", "tree",
    "paths",   "unresolved", "blackhole", "unreachable",  "prohibit"};
constexpr std::array<std::string_view, 8> kKinds{"?",   "SYN", "SYN-ACK", "DATA",
                                                 "ACK", "FIN", "FIN-ACK", "RESET"};

std::string mac_at(const TraceRecord& r, size_t at) {
  config::Mac mac{};
  std::copy_n(r.frame.begin() + static_cast<std::ptrdiff_t>(at), mac.size(), mac.begin());
  return config::mac_text(mac);
}

config::Ipv6 ipv6_at(const uint8_t* p) {
  config::Ipv6 address{};
  std::copy_n(p, address.size(), address.begin());
  return address;
}

std::string protocol_text(uint8_t number) {
  switch (number) {
    case 6:
      return "tcp";
    case wire::kProtocolUdp:
      return "udp";
    case kIcmp:
      return "icmp";
    case kIcmp6:
      return "icmp6";
    default:
      return "protocol " + std::to_string(number);
  }
}

/// The longest prefix of the file's routes that holds an address, with its length; "": none.
template <class Routes, class Address>
std::string route_of(const Routes& routes, const Address& address) {
  const auto* best = static_cast<decltype(routes.data())>(nullptr);
  for (const auto& r : routes)
    if (config::contains(r.prefix, address) &&
        (best == nullptr || r.prefix.length > best->prefix.length))
      best = &r;
  return best != nullptr ? config::prefix_text(config::network(best->prefix)) : "";
}

std::string route_text(const TraceRecord& r, const config::Router& self) {
  const uint8_t* ip = r.frame.data() + r.info.l3;
  if (r.info.l3 == 0 || r.info.l3 + wire::kIpv6Size > r.present) return "";
  if (r.info.has(kIpv6)) return route_of(self.ipv6_routes, ipv6_at(ip + wire::kIpv6DestinationAt));
  return route_of(self.ipv4_routes, wire::load_be32(ip + wire::kIpv4DestinationAt));
}

/// A stage's findings, beside its name.
class Findings {
 public:
  Findings(const Traced& traced, const config::Topology& topology, size_t node)
      : r_(traced.packet), d_(traced.departure), t_(topology), self_(topology.routers[node]) {}

  void add(TraceStage stage, Json& out) const {
    switch (stage) {
      case TraceStage::kRx:
        out["link"] = link(r_.info.input);
        out["bytes"] = r_.length;
        out["burst"] = r_.waiting;
        break;
      case TraceStage::kLookup:
        lookup(out);
        break;
      case TraceStage::kCharge:
      case TraceStage::kIdentify:
        if (r_.info.customer != 0) out["customer"] = customer();
        break;
      case TraceStage::kPolice:
        out["link"] = link(r_.info.link);
        break;
      case TraceStage::kPrice:
        price(out);
        break;
      case TraceStage::kEnqueue:
        out["bytes"] = r_.info.size;
        break;
      case TraceStage::kTx:
        out["link"] = link(d_.link);
        out["after_us"] = static_cast<double>((d_.time - r_.time).count()) * 1e-3;
        break;
      default:
        break;
    }
  }

 private:
  [[nodiscard]] std::string link(size_t l) const {
    return l < self_.links.size() ? t_.links[self_.links[l]].name : "?";
  }
  [[nodiscard]] std::string customer() const {
    const size_t at = r_.info.customer - 1;
    return at < t_.customers.size() ? t_.customers[at].name : "?";
  }
  void lookup(Json& out) const {
    if (r_.info.hop == nullptr) return;  // ARP and link-local packets are not looked up
    const auto action = static_cast<size_t>(r_.hop.action);
    out["action"] = action < kActions.size() ? kActions[action] : "?";
    if (const std::string route = route_text(r_, self_); !route.empty()) out["route"] = route;
    if (r_.hop.action != NextHop::Action::kForward) return;
    out["link"] = link(r_.hop.link);
    out["next_hop"] = config::mac_text(r_.hop.macs.destination);
    out["mtu"] = r_.hop.mtu;
  }
  void price(Json& out) const {
    out["queue_bytes"] = r_.backlog;
    if (r_.price != 0) out["link_price"] = r_.price;
    const Protocol* protocol = r_.info.congestion != 0 ? find_protocol(r_.info.protocol) : nullptr;
    if (protocol == nullptr) return;
    out["protocol"] = protocol->name;
    out["stamped"] =
        !std::equal(r_.before.begin(), r_.before.begin() + protocol->header_size, r_.after.begin());
    if (protocol->id != fcp::kProtocolId) return;
    out["price_before"] = fcp::load(r_.before.data()).price;
    out["price_after"] = fcp::load(r_.after.data()).price;
    out["balance"] = fcp::load(r_.before.data()).balance;
  }

  const TraceRecord& r_;
  const TraceRecord& d_;
  const config::Topology& t_;
  const config::Router& self_;
};

}  // namespace

std::string headers_text(const TraceRecord& r) {
  const PacketInfo& p = r.info;
  if (r.present < wire::kEthernetSize) return std::to_string(r.length) + " B, no Ethernet header";
  const std::string ends = mac_at(r, 6) + " > " + mac_at(r, 0);
  char type[8];
  std::snprintf(type, sizeof type, "%04x", wire::load_be16(&r.frame[wire::kEtherTypeAt]));
  if (p.has(kArp)) return ends + " arp";
  const size_t size = p.has(kIpv6) ? wire::kIpv6Size : wire::kIpv4Size;
  if (p.l3 == 0 || p.l3 + size > r.present) return ends + " ethertype 0x" + type;
  const uint8_t* ip = &r.frame[p.l3];
  std::string source = p.has(kIpv6) ? config::ipv6_text(ipv6_at(ip + wire::kIpv6SourceAt))
                                    : config::ipv4_text(wire::load_be32(ip + wire::kIpv4SourceAt));
  std::string to = p.has(kIpv6) ? config::ipv6_text(ipv6_at(ip + wire::kIpv6DestinationAt))
                                : config::ipv4_text(wire::load_be32(ip + wire::kIpv4DestinationAt));
  const unsigned ttl = ip[p.has(kIpv6) ? wire::kIpv6HopLimitAt : wire::kIpv4TtlAt];
  const uint8_t l4 =
      p.l4_protocol != 0 ? p.l4_protocol : ip[p.has(kIpv6) ? 6 : wire::kIpv4ProtocolAt];
  const bool ports = (l4 == 6 || l4 == wire::kProtocolUdp) && p.l4 != 0 && p.l4 + 4U <= r.present &&
                     !p.has(kLaterFragment);
  const auto port = [&](size_t at) {
    return (p.has(kIpv6) ? "." : ":") + std::to_string(wire::load_be16(&r.frame[p.l4 + at]));
  };
  if (ports) {
    source += port(0);
    to += port(2);
  }
  std::string text = source + " > " + to + " " + protocol_text(l4) + " ttl " + std::to_string(ttl) +
                     " length " + std::to_string(p.datagram != 0 ? p.datagram : r.length);
  if (p.has(kFragment)) text += " fragment";
  const size_t header = p.l4 + wire::kUdpSize;
  if (p.has(kTurnpike) && header + wire::kHeaderSize <= r.present) {
    const size_t kind = r.frame[header] & 15U;
    text += " turnpike " + std::string(kind < kKinds.size() ? kKinds[kind] : kKinds[0]);
  }
  return text;
}

Json trace_json(const Traced& traced, const config::Topology& topology, size_t node,
                int64_t unix_offset) {
  const TraceRecord& r = traced.packet;
  const Findings findings(traced, topology, node);
  Json stages = Json::array();
  for (size_t s = 0; s < kTraceStageNames.size(); ++s) {
    const auto stage = static_cast<TraceStage>(s);
    const bool tx = stage == TraceStage::kTx;
    const bool ended = r.outcome == Outcome::kDropped && r.last == stage;
    if ((r.stages >> s & 1) == 0 && !ended && !(tx && traced.departed)) continue;
    Json out{{"stage", kTraceStageNames[s]}};
    if (!ended || stage == TraceStage::kPrice || stage == TraceStage::kLookup)
      findings.add(stage, out);
    stages.push_back(std::move(out));
  }
  const TraceRecord& last = traced.departed ? traced.departure : r;
  Json out{{"time_ns", r.time.count() + unix_offset},
           {"worker", r.id >> 24},
           {"headers", headers_text(r)},
           {"stages", std::move(stages)},
           {"verdict", kOutcomeNames[static_cast<size_t>(last.outcome)]}};
  if (last.outcome == Outcome::kDropped) {
    out["reason"] = name_of(last.reason);
    if (last.reason != DropReason::kNone)
      out["meaning"] = kDropTexts[static_cast<size_t>(last.reason)].meaning;
  }
  return out;
}

}  // namespace turnpike::router
