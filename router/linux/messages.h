// SPDX-License-Identifier: BSD-3-Clause
// rtnetlink messages as plain data (rtnetlink(7); linux/rtnetlink.h, neighbour.h, nexthop.h). The
// parser accepts attributes of any length: one that is too short is an error of its message, and
// unknown ones are skipped.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "router/control/route_sink.h"

struct nlmsghdr;  // linux/netlink.h

namespace turnpike::router {

using Gateway = decltype(Path::gateway);

/// One next hop, as the kernel gives it.
struct Hop {
  uint32_t interface = 0;  // its index in the kernel, 0: none
  Gateway gateway;
  uint16_t weight = 1;
  bool encapsulated = false;  // in MPLS, SRv6 or another tunnel (RTA_ENCAP)
  bool dead = false;          // unusable, although its interface is up (RTNH_F_DEAD)
  bool operator==(const Hop&) const = default;
};

struct LinkMessage {
  bool removed = false;
  uint32_t interface = 0;
  std::string name;
  bool up = false;       // by the administrator (IFF_UP)
  bool carrier = false;  // IFF_LOWER_UP
  uint32_t mtu = 0;      // B
  config::Mac mac{};
};

struct AddressMessage {
  bool removed = false;
  uint32_t interface = 0;
  Address address;  // the interface's own
  uint8_t length = 0;
};

struct NeighbourMessage {
  bool removed = false;
  uint32_t interface = 0;
  Address address;
  config::Mac mac{};
  bool usable = false;  // has a MAC, and a state in which packets may be sent to it
  uint16_t state = 0;   // NUD_... of linux/neighbour.h
};

struct NexthopMessage {
  struct Member {
    uint32_t id = 0;
    uint16_t weight = 1;
    bool operator==(const Member&) const = default;
  };
  bool removed = false;
  uint32_t id = 0;
  bool blackhole = false;
  bool bridge = false;        // of a bridge's forwarding database, not for routes
  Hop hop;                    // of a single next hop
  std::vector<Member> group;  // of a group, resilient or not
  bool operator==(const NexthopMessage&) const = default;
};

struct RouteMessage {
  bool removed = false;
  bool replaces = false;  // NLM_F_REPLACE
  bool appends = false;   // NLM_F_APPEND
  bool cached = false;    // RTM_F_CLONED: an exception of another route, such as a path MTU
  bool by_source = false;
  Prefix prefix;  // host bits are zero
  uint32_t table = 0;
  uint8_t type = 0;      // RTN_UNICAST, ...
  uint8_t protocol = 0;  // RTPROT_KERNEL, ...
  uint8_t tos = 0;
  uint32_t metric = 0;
  uint32_t nexthop = 0;     // identifier of the nexthop object; 0: `hops` has the next hops
  config::Ipv4 source = 0;  // preferred source address, IPv4 only; 0: none
  std::vector<Hop> hops;
};

/// Of a type or an address family that does not concern routes.
struct OtherMessage {};
/// Too short, or an attribute contradicts it.
struct MalformedMessage {};

using Message = std::variant<OtherMessage, MalformedMessage, LinkMessage, AddressMessage,
                             NeighbourMessage, NexthopMessage, RouteMessage>;

/// Reads header.nlmsg_len bytes, which the caller has checked to be there.
Message parse_message(const nlmsghdr& header);

}  // namespace turnpike::router
