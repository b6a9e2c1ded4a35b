// SPDX-License-Identifier: BSD-3-Clause
// Ports: attaches each end, and reports two ends of one process at one device.
#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "common/config/describe.h"
#include "common/config/draft.h"
#include "common/config/port_device.h"

namespace turnpike::config {
namespace {

// One end's attachment as the file gives it; null: none.
struct PlacedSpec {
  const AttachSpec* spec = nullptr;
  Position at;
  std::string path;
};

// A name as part of a path and of DPDK's arguments: bytes other than letters, digits, '.', '_' and
// '-' become %XX.
std::string file_name(std::string_view name) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '.' || c == '_' || c == '-')
      out += c;
    else if (c == '/')
      out += '+';
    else
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return out;
}

// Settings that one end omits follow from the other; exactly one end is the server.
AttachMemif memif(const Draft& d, size_t link, size_t end, const MemifSpec& own,
                  const MemifSpec& other) {
  const auto& ends = d.topology.links[link].ends;
  AttachMemif out;
  out.socket =
      own.socket.given ? own.socket.value.text
      : other.socket.given
          ? other.socket.value.text
          : "%t/memif/" + file_name(d.topology.run.name + "/" + d.topology.links[link].name);
  out.id = own.id.given ? own.id.value : other.id.value;
  const bool first = d.routers.contains(ends[0].node) || !d.routers.contains(ends[1].node);
  out.server = own.server.given     ? own.server.value
               : other.server.given ? !other.server.value
                                    : end == (first ? 0U : 1U);
  return out;
}

AttachPci pci(const PciSpec& spec) {
  AttachPci out{spec.address.value.text};
  if (!spec.flow_control.given) return out;
  const auto word = std::ranges::find(kFlowControls, spec.flow_control.value);
  if (word != kFlowControls.end())
    out.flow_control = static_cast<FlowControl>(word - kFlowControls.begin());
  return out;
}

Attachment attachment(const Draft& d, size_t link, size_t end, const AttachSpec& spec,
                      const AttachSpec* other) {
  if (spec.pci.given) return pci(spec.pci.value);
  if (spec.af_packet.given) return AttachAfPacket{spec.af_packet.value.text};
  if (spec.af_xdp.given) return AttachAfXdp{spec.af_xdp.value.text};
  if (spec.tap.given) return AttachTap{spec.tap.value.text};
  if (spec.ring.given) return AttachRing{};
  if (spec.vdev.given) return AttachVdev{spec.vdev.value};
  if (spec.pcap.given) {
    const PcapSpec& pcap = spec.pcap.value;
    return AttachPcap{pcap.rx.value.text, pcap.tx.value.text, pcap.repeat.value};
  }
  if (!spec.memif.given) return {};
  return memif(d, link, end, spec.memif.value, other ? other->memif.value : MemifSpec{});
}

bool is_real(const Attachment& a) {
  return std::holds_alternative<AttachPci>(a) || std::holds_alternative<AttachAfPacket>(a) ||
         std::holds_alternative<AttachAfXdp>(a) || std::holds_alternative<AttachTap>(a) ||
         std::holds_alternative<AttachVdev>(a);
}

std::array<PlacedSpec, 2> attach_specs(Draft& d, size_t link) {
  std::array<PlacedSpec, 2> specs;
  const Field<AttachBothSpec>& spec = d.link_spec(link).attach;
  const std::string path = d.link_path(link) + ".attach";
  const auto& ends = d.topology.links[link].ends;
  if (spec.wrong) return specs;
  if (spec.value.both) specs[0] = specs[1] = {&*spec.value.both, spec.at, path};
  for (const auto& [node, at, end_spec] : spec.value.ends) {
    const std::array<std::string_view, 2> names{ends[0].node, ends[1].node};
    if (node == names[0]) {
      specs[0] = {&end_spec, at, join(path, node)};
    } else if (node == names[1]) {
      specs[1] = {&end_spec, at, join(path, node)};
    } else if (!names[0].empty() && !names[1].empty()) {
      d.mistakes.add(at, join(path, node),
                     "'" + node + "' is not an end of this link" + suggestion(node, names));
    }
  }
  return specs;
}

// Checks that the two ends of a link fit each other.
void check_pair(Draft& d, size_t link, const std::array<PlacedSpec, 2>& specs) {
  const auto& ends = d.topology.links[link].ends;
  if (!specs[0].spec || !specs[1].spec) return;
  if (specs[0].spec->ring.given != specs[1].spec->ring.given)
    d.mistakes.add(specs[1].at, specs[1].path, "a ring has both ends in one process: attach both");
  const auto* a = std::get_if<AttachMemif>(&ends[0].attachment);
  const auto* b = std::get_if<AttachMemif>(&ends[1].attachment);
  if (!a || !b) return;
  if (a->socket != b->socket || a->id != b->id)
    d.mistakes.add(specs[1].at, specs[1].path,
                   "the two ends are on different memif sockets or ids");
  else if (a->server == b->server)
    d.mistakes.add(specs[1].at, specs[1].path,
                   a->server ? "both ends are memif servers" : "neither end is the memif server");
}

// A router opens a port for each attached link, or one for links in several VLANs; DPDK opens at
// most kMaxPorts in a process.
void check_counts(Draft& d) {
  for (const Router& router : d.topology.routers) {
    size_t ports = 0;
    std::set<std::string> shared;
    for (const size_t i : router.links) {
      const Link& link = d.topology.links[i];
      const size_t end = link.ends[0].node == router.name ? 0 : 1;
      const Attachment& attachment = link.ends[end].attachment;
      const std::string device = port_device(attachment);
      if (link.ends[end].tagged_port && !device.empty() && !shared.insert(device).second) continue;
      const bool port = attachment.index() != 0 && !std::holds_alternative<AttachRing>(attachment);
      if (!port || ++ports != kMaxPorts + 1) continue;
      d.mistakes.add(d.link_spec(i).attach.at, d.link_path(i) + ".attach",
                     "'" + router.name + "' has more than " + std::to_string(kMaxPorts) +
                         " links with ports, the limit of DPDK in one process");
    }
  }
}

// Ends of links, and the ports under them. A process attaches a device once. Each router is a
// process; all hosts are in the sender's. Two routers may name the same PCI address, on two
// machines. Links at a router share a port if they are in different VLANs.
class Users {
 public:
  explicit Users(Draft& draft) : d_(draft) {}

  void add(size_t link, size_t end, const PlacedSpec& spec) {
    const Link& own = d_.topology.links[link];
    const Interface& here = own.ends[end];
    const bool host = d_.hosts.contains(here.node);
    if (host && own.vlan != 0 && here.attachment.index() != 0 && !is_external(here.node))
      d_.mistakes.add(d_.link_spec(link).vlan.at, d_.link_path(link) + ".vlan",
                      "the sender's ports send no tags: '" + here.node + "' is not external");
    const std::string device = port_device(here.attachment);
    if (device.empty()) {  // capture files, of one link
      d_.topology.links[link].ends[end].tagged_port =
          std::holds_alternative<AttachPcap>(here.attachment) && own.vlan != 0;
      return;
    }
    Port& port = ports_[{host ? "the sender" : here.node, device}];
    const uint16_t vlan = host ? 0 : own.vlan;
    const auto [other, fresh] = port.by_vlan.emplace(vlan, std::pair(link, end));
    if (!fresh) {
      const auto [l, e] = other->second;
      const std::string in = vlan == 0 ? "" : "VLAN " + std::to_string(vlan) + " of ";
      d_.mistakes.add(spec.at, spec.path,
                      "two ends on one port: " + in + device + " is that of '" +
                          d_.topology.links[l].ends[e].node + "' on link '" +
                          d_.topology.links[l].name + "'" +
                          (host ? "" : "; links share a port by different values of 'vlan'"));
    } else if (port.by_vlan.size() > 1 && here.attachment != port.first->attachment) {
      d_.mistakes.add(spec.at, spec.path,
                      "links that share " + device + " need the same settings of it");
    }
    if (port.first == nullptr) port.first = &here;
    port.tagged |= vlan != 0;
  }

  void mark_tagged() {
    for (const auto& [key, port] : ports_)
      for (const auto& [vlan, at] : port.by_vlan)
        d_.topology.links[at.first].ends[at.second].tagged_port = port.tagged;
  }

 private:
  struct Port {
    std::map<uint16_t, std::pair<size_t, size_t>> by_vlan;  // link and end; 0: untagged
    const Interface* first = nullptr;
    bool tagged = false;
  };

  [[nodiscard]] bool is_external(const std::string& host) const {
    return d_.topology.hosts[d_.hosts.find(host)->second].external;
  }

  Draft& d_;
  std::map<std::pair<std::string, std::string>, Port> ports_;  // by process and device
};

}  // namespace

void place_ports(Draft& d) {
  Users users(d);
  for (size_t i = 0; i < d.topology.links.size(); ++i) {
    Link& link = d.topology.links[i];
    const auto specs = attach_specs(d, i);
    bool real = false;
    for (size_t e = 0; e < 2; ++e) {
      if (!specs[e].spec) continue;
      link.ends[e].attachment = attachment(d, i, e, *specs[e].spec, specs[1 - e].spec);
      real |= is_real(link.ends[e].attachment);
    }
    check_pair(d, i, specs);
    const auto& emulate = d.link_spec(i).emulate_delay;
    link.emulate_delay = emulate.given ? emulate.value : !real;
    for (size_t e = 0; e < 2; ++e)
      if (specs[e].spec) users.add(i, e, specs[e]);
  }
  users.mark_tagged();
  check_counts(d);
}

}  // namespace turnpike::config
