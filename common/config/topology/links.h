// SPDX-License-Identifier: BSD-3-Clause
// Links, with their ends, directions and classes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/config/topology/addresses.h"
#include "common/config/topology/attachments.h"
#include "common/config/topology/law_choice.h"
#include "common/protocols/link_class.h"
#include "common/units/units.h"

namespace turnpike::config {

/// One end of a link: a node's interface.
struct Interface {
  std::string node;
  Ipv4Prefix ipv4;  // address and prefix length of the subnet
  Ipv6Prefix ipv6;
  Mac mac{};
  Attachment attachment;
  bool tagged_port = false;  // its port carries VLANs: this link's, or another link's
};

/// Validation of source addresses at a link's receiving end, a router (RFC 3704, RFC 8704).
enum class SourceCheck : uint8_t {
  kOff,
  kLoose,     // the source has a route
  kFeasible,  // some path to the source begins with this link, or a route in the file names it
  kStrict,    // the route to the source begins with this link
};

enum class Drain : uint8_t {
  kShaped,    // the router paces a software queue at `rate`
  kLineRate,  // the port is as fast as the link: every lcore sends straight to it
};

/// Conditions on a packet: all that are given must hold, and one item of each list.
struct ClassMatch {
  std::vector<unsigned> dscp = {}, protocol = {}, port = {};
  std::vector<std::variant<Ipv4Prefix, Ipv6Prefix>> source = {}, destination = {};
  std::optional<bool> unpriced = {};
};

/// A class of traffic on a link. Without conditions it matches every packet.
struct LinkClass {
  ClassMatch match = {};
  ClassMatch parent_match = {};  // of its outer class: must hold too
  std::string parent = {};       // name of its outer class; empty: none
  ClassRule rule = {};
  Bytes buffer{0};  // limit of its queue; 0: the link's buffer
};

/// One direction of a link, as its sending end treats it.
struct Direction {
  BitRate rate{0};
  Nanos delay{0};                // propagation, one way
  Bytes buffer{0};               // resolved: "1 BDP" has become bytes
  Bytes overhead{0};             // B per packet that the link carries beyond the IP datagram
  double loss = 0, reorder = 0;  // share of packets, by the link; on a virtual clock only
  Nanos jitter{0};               // of the link, beyond `delay`; on a virtual clock only
  Drain drain = Drain::kShaped;
  LawChoice law;
  SourceCheck source_check = SourceCheck::kOff;
  std::vector<LinkClass> classes;  // empty: all traffic is alike
};

inline constexpr uint16_t kMinIpv6Mtu = 1280;  // RFC 8200, section 5

struct Link {
  std::string name;
  std::array<Interface, 2> ends;
  std::array<Direction, 2> directions;  // [0]: ends[0] to ends[1]
  bool emulate_delay = true;            // false: the cable itself has `delay`
  uint16_t mtu = 1500;                  // largest IP datagram
  uint16_t vlan = 0;                    // 802.1Q VID of its frames at routers' ports; 0: untagged

  /// The end, 0 or 1, at this node.
  [[nodiscard]] size_t end_at(const std::string& node) const {
    return ends[0].node == node ? 0 : 1;
  }
};

}  // namespace turnpike::config
