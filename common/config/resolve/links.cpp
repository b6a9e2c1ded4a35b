// SPDX-License-Identifier: BSD-3-Clause
// Links: both directions, ports and addresses.
#include <string>
#include <variant>
#include <vector>

#include "common/config/address.h"
#include "common/config/describe.h"
#include "common/config/resolve/parts.h"
#include "common/config/scalars.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

struct AttachmentText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(const AttachPci& a) const {
    std::vector<YamlPair> pci{{"address", in_quotes(a.address)}};
    if (a.flow_control)
      pci.push_back(
          {"flow_control", std::string(kFlowControls[static_cast<size_t>(*a.flow_control)])});
    return mapped({{"pci", mapped(pci)}});
  }
  std::string operator()(const AttachMemif& a) const {
    return mapped({{"memif", mapped({{"socket", in_quotes(a.socket)},
                                     {"id", std::to_string(a.id)},
                                     {"server", truth(a.server)}})}});
  }
  std::string operator()(const AttachAfPacket& a) const {
    return mapped({{"af_packet", in_quotes(a.interface)}});
  }
  std::string operator()(const AttachAfXdp& a) const {
    return mapped({{"af_xdp", in_quotes(a.interface)}});
  }
  std::string operator()(const AttachTap& a) const {
    return mapped({{"tap", in_quotes(a.interface)}});
  }
  std::string operator()(AttachRing) const { return "ring"; }
  std::string operator()(const AttachPcap& a) const {
    std::vector<YamlPair> pcap{{"rx", in_quotes(a.rx_file)}, {"repeat", truth(a.repeat)}};
    if (!a.tx_file.empty()) pcap.push_back({"tx", in_quotes(a.tx_file)});
    return mapped({{"pcap", mapped(pcap)}});
  }
  std::string operator()(const AttachVdev& a) const {
    return mapped({{"vdev", in_quotes(a.arguments)}});
  }
};

std::vector<YamlPair> direction(const Direction& d) {
  return {{"rate", to_text(d.rate)},
          {"delay", to_text(d.delay)},
          {"buffer", to_text(d.buffer)},
          {"overhead", to_text(d.overhead)},
          {"loss", number(d.loss)},
          {"reorder", number(d.reorder)},
          {"jitter", to_text(d.jitter)},
          {"drain", std::string(kDrains[d.drain == Drain::kLineRate ? 1 : 0])},
          {"source_check", std::string(kSourceChecks[static_cast<size_t>(d.source_check)])},
          {"law", scheme_text(d.law.protocol, d.law.params, true)}};
}

// Settings equal in both directions are written once; the law for each direction, since a host runs
// only a law of its own direction.
void write_directions(YamlWriter& out, const Link& link) {
  const auto forward = direction(link.directions[0]), reverse = direction(link.directions[1]);
  std::vector<YamlPair> forward_own, reverse_own;
  for (size_t i = 0; i < forward.size(); ++i) {
    if (forward[i].key != "law" && forward[i].value == reverse[i].value) {
      out.put(forward[i].key, forward[i].value);
    } else {
      forward_own.push_back(forward[i]);
      reverse_own.push_back(reverse[i]);
    }
  }
  add_classes(link.directions[0], forward_own);
  add_classes(link.directions[1], reverse_own);
  out.put("forward", mapped(forward_own));
  out.put("reverse", mapped(reverse_own));
}

std::string addresses(const Link& link, const Interface& end) {
  std::vector<std::string> out{in_quotes(prefix_text(end.ipv4))};
  // With a smaller MTU no file may give an IPv6 address, and the assigned one is always the same.
  if (link.mtu >= kMinIpv6Mtu) out.push_back(in_quotes(prefix_text(end.ipv6)));
  return listed(out);
}

void write_link(YamlWriter& out, const Link& link) {
  out.map(plain(link.name), [&] {
    const std::vector<std::string> ends{plain(link.ends[0].node), plain(link.ends[1].node)};
    out.put("ends", listed(ends));
    write_directions(out, link);
    out.put("mtu", std::to_string(link.mtu));
    if (link.vlan != 0) out.put("vlan", std::to_string(link.vlan));
    out.put("emulate_delay", truth(link.emulate_delay));
    std::vector<YamlPair> attach, address, mac;
    for (size_t e = 0; e < 2; ++e) {
      const Interface& end = link.ends[e];
      const std::string port = std::visit(AttachmentText{}, end.attachment);
      if (!port.empty()) attach.push_back({ends[e], port});
      address.push_back({ends[e], addresses(link, end)});
      mac.push_back({ends[e], in_quotes(mac_text(end.mac))});
    }
    if (!attach.empty()) out.put("attach", mapped(attach));
    out.put("addresses", mapped(address));
    out.put("macs", mapped(mac));
  });
}

}  // namespace

void write_links(YamlWriter& out, const Topology& t) {
  out.map("links", [&] {
    for (const Link& l : t.links) write_link(out, l);
  });
}

}  // namespace turnpike::config
