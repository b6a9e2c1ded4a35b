// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/messages.h"

#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>

#include "common/config/address.h"
#include "router/linux/attributes.h"

namespace turnpike::router {
namespace {

/// The message's family header; nullptr: the message is too short for it.
template <class Header>
const Header* family_header(const nlmsghdr& header) {
  if (header.nlmsg_len < MNL_NLMSG_HDRLEN + MNL_ALIGN(sizeof(Header))) return nullptr;
  return static_cast<const Header*>(mnl_nlmsg_get_payload(&header));
}

template <class Header>
std::span<const uint8_t> attributes(const nlmsghdr& header) {
  const size_t before = MNL_NLMSG_HDRLEN + MNL_ALIGN(sizeof(Header));
  return {reinterpret_cast<const uint8_t*>(&header) + before, header.nlmsg_len - before};
}

/// Reads an address of a family into an Address or a Gateway; false: it is too short.
template <class To>
bool read_address(const Attribute& a, unsigned family, To& out) {
  if (family == AF_INET) {
    config::Ipv4 v4 = 0;
    if (!a.read_ipv4(v4)) return false;
    out = v4;
    return true;
  }
  config::Ipv6 v6{};
  if (family != AF_INET6 || !a.read(v6)) return false;
  out = v6;
  return true;
}

Message parse_link(const nlmsghdr& header) {
  const auto* h = family_header<ifinfomsg>(header);
  if (h == nullptr || h->ifi_index <= 0) return MalformedMessage{};
  // A bridge announces in this family that a port left it: the interface remains.
  if (h->ifi_family != AF_UNSPEC) return OtherMessage{};
  LinkMessage m{.removed = header.nlmsg_type == RTM_DELLINK,
                .interface = static_cast<uint32_t>(h->ifi_index),
                .name = {},
                .up = (h->ifi_flags & IFF_UP) != 0,
                .carrier = (h->ifi_flags & IFF_LOWER_UP) != 0};
  const bool sound = for_each_attribute(attributes<ifinfomsg>(header), [&](const Attribute& a) {
    if (a.type == IFLA_IFNAME) m.name = a.text();
    if (a.type == IFLA_MTU) return a.read(m.mtu);
    // Tunnels have link addresses of other lengths; they are no interfaces of ours.
    if (a.type == IFLA_ADDRESS && a.data.size() == m.mac.size()) return a.read(m.mac);
    return true;
  });
  if (!sound) return MalformedMessage{};
  return m;
}

Message parse_own_address(const nlmsghdr& header) {
  const auto* h = family_header<ifaddrmsg>(header);
  if (h == nullptr) return MalformedMessage{};
  if (h->ifa_family != AF_INET && h->ifa_family != AF_INET6) return OtherMessage{};
  AddressMessage m{.removed = header.nlmsg_type == RTM_DELADDR,
                   .interface = h->ifa_index,
                   .address = {},
                   .length = h->ifa_prefixlen};
  bool found = false, local = false;
  const bool sound = for_each_attribute(attributes<ifaddrmsg>(header), [&](const Attribute& a) {
    // With a peer, IFA_ADDRESS is the peer's and IFA_LOCAL the own one.
    if (a.type != IFA_LOCAL && (a.type != IFA_ADDRESS || local)) return true;
    found = true;
    local = a.type == IFA_LOCAL;
    return read_address(a, h->ifa_family, m.address);
  });
  if (!sound || !found) return MalformedMessage{};
  return m;
}

Message parse_neighbour(const nlmsghdr& header) {
  const auto* h = family_header<ndmsg>(header);
  if (h == nullptr) return MalformedMessage{};
  if ((h->ndm_family != AF_INET && h->ndm_family != AF_INET6) || (h->ndm_flags & NTF_PROXY) != 0) {
    return OtherMessage{};
  }
  NeighbourMessage m{.removed = header.nlmsg_type == RTM_DELNEIGH,
                     .interface = static_cast<uint32_t>(h->ndm_ifindex),
                     .address = {}};
  bool found = false, has_mac = false;
  const bool sound = for_each_attribute(attributes<ndmsg>(header), [&](const Attribute& a) {
    if (a.type == NDA_DST) return found = read_address(a, h->ndm_family, m.address);
    if (a.type == NDA_LLADDR && a.data.size() == m.mac.size()) return has_mac = a.read(m.mac);
    return true;
  });
  if (!sound || !found) return MalformedMessage{};
  constexpr unsigned kUsable =
      NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT | NUD_NOARP;
  m.usable = has_mac && (h->ndm_state & kUsable) != 0;
  m.state = h->ndm_state;
  return m;
}

Message parse_nexthop(const nlmsghdr& header) {
  const auto* h = family_header<nhmsg>(header);
  if (h == nullptr) return MalformedMessage{};
  NexthopMessage m;
  m.removed = header.nlmsg_type == RTM_DELNEXTHOP;
  const bool sound = for_each_attribute(attributes<nhmsg>(header), [&](const Attribute& a) {
    switch (a.type) {
      case NHA_ID:
        return a.read(m.id);
      case NHA_BLACKHOLE:
        return m.blackhole = true;
      case NHA_FDB:
        return m.bridge = true;
      case NHA_OIF:
        return a.read(m.hop.interface);
      case NHA_GATEWAY:
        return read_address(a, h->nh_family, m.hop.gateway);
      case NHA_ENCAP:
        return m.hop.encapsulated = true;
      case NHA_GROUP:
        for (size_t at = 0; at + sizeof(nexthop_grp) <= a.data.size(); at += sizeof(nexthop_grp)) {
          nexthop_grp member{};
          std::memcpy(&member, &a.data[at], sizeof member);
          // Linux 6.12 has the weight's upper byte beside the lower; its name differs by header.
          const unsigned high = a.data[at + offsetof(nexthop_grp, weight) + 1];
          const unsigned weight = (high << 8 | member.weight) + 1;
          m.group.push_back({member.id, static_cast<uint16_t>(std::min(weight, 65535U))});
        }
        return !m.group.empty();
      default:
        return true;
    }
  });
  if (!sound || m.id == 0) return MalformedMessage{};
  return m;
}

/// Attributes of a next hop, which are the same in a route and within RTA_MULTIPATH.
bool read_hop(const Attribute& a, unsigned family, Hop& hop) {
  switch (a.type) {
    case RTA_GATEWAY:
      return read_address(a, family, hop.gateway);
    case RTA_VIA: {  // of another family: struct rtvia (RFC 8950)
      uint16_t of = 0;
      if (!a.read(of)) return false;
      return read_address(Attribute{a.type, a.data.subspan(2)}, of, hop.gateway);
    }
    case RTA_ENCAP:
      hop.encapsulated = true;
      return true;
    default:
      return true;
  }
}

bool read_multipath(std::span<const uint8_t> data, unsigned family, std::vector<Hop>& hops) {
  while (data.size() >= sizeof(rtnexthop)) {
    rtnexthop next{};
    std::memcpy(&next, data.data(), sizeof next);
    if (next.rtnh_len < sizeof next || next.rtnh_len > data.size()) return false;
    Hop hop{.interface = static_cast<uint32_t>(next.rtnh_ifindex),
            .gateway = {},
            .weight = static_cast<uint16_t>(next.rtnh_hops + 1),
            .encapsulated = false,
            .dead = (next.rtnh_flags & RTNH_F_DEAD) != 0};
    const bool sound =
        for_each_attribute(data.subspan(sizeof next, next.rtnh_len - sizeof next),
                           [&](const Attribute& a) { return read_hop(a, family, hop); });
    if (!sound) return false;
    hops.push_back(hop);
    data = data.subspan(std::min(data.size(), static_cast<size_t>(RTNH_ALIGN(next.rtnh_len))));
  }
  return data.empty();
}

/// The prefix of rtm_dst_len bits; false: it is longer than an address.
bool make_prefix(const rtmsg& h, const Address& address, Prefix& out) {
  if (h.rtm_family == AF_INET) {
    out = config::network(config::Ipv4Prefix{std::get<config::Ipv4>(address), h.rtm_dst_len});
    return h.rtm_dst_len <= 32;
  }
  out = config::network(config::Ipv6Prefix{std::get<config::Ipv6>(address), h.rtm_dst_len});
  return h.rtm_dst_len <= 128;
}

Message parse_route(const nlmsghdr& header) {
  const auto* h = family_header<rtmsg>(header);
  if (h == nullptr) return MalformedMessage{};
  if (h->rtm_family != AF_INET && h->rtm_family != AF_INET6) return OtherMessage{};
  if (h->rtm_dst_len > (h->rtm_family == AF_INET ? 32 : 128)) return MalformedMessage{};
  RouteMessage m{.removed = header.nlmsg_type == RTM_DELROUTE,
                 .replaces = (header.nlmsg_flags & NLM_F_REPLACE) != 0,
                 .appends = (header.nlmsg_flags & NLM_F_APPEND) != 0,
                 .cached = (h->rtm_flags & RTM_F_CLONED) != 0,
                 .by_source = h->rtm_src_len > 0,
                 .prefix = {},
                 .table = h->rtm_table,
                 .type = h->rtm_type,
                 .protocol = h->rtm_protocol,
                 .tos = h->rtm_tos,
                 .hops = {}};
  Address destination =
      h->rtm_family == AF_INET ? Address(config::Ipv4{0}) : Address(config::Ipv6{});
  Hop hop;
  bool has_destination = false;
  const bool sound = for_each_attribute(attributes<rtmsg>(header), [&](const Attribute& a) {
    switch (a.type) {
      case RTA_DST:
        return has_destination = read_address(a, h->rtm_family, destination);
      case RTA_TABLE:
        return a.read(m.table);
      case RTA_PRIORITY:
        return a.read(m.metric);
      case RTA_OIF:
        return a.read(hop.interface);
      case RTA_NH_ID:
        return a.read(m.nexthop);
      case RTA_PREFSRC:
        return h->rtm_family != AF_INET || a.read_ipv4(m.source);
      case RTA_MULTIPATH:
        return read_multipath(a.data, h->rtm_family, m.hops);
      default:
        return read_hop(a, h->rtm_family, hop);
    }
  });
  if (!sound || (h->rtm_dst_len > 0 && !has_destination)) return MalformedMessage{};
  if (!make_prefix(*h, destination, m.prefix)) return MalformedMessage{};
  // The next hops of a nexthop object are those of the object, which may change by itself; the type
  // says whether it drops packets now.
  if (m.nexthop != 0) m.hops.clear();
  if (m.nexthop != 0 && m.type == RTN_BLACKHOLE) m.type = RTN_UNICAST;
  if (m.nexthop == 0 && m.hops.empty() && hop.interface != 0) m.hops.push_back(hop);
  return m;
}

}  // namespace

Message parse_message(const nlmsghdr& header) {
  switch (header.nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
      return parse_link(header);
    case RTM_NEWADDR:
    case RTM_DELADDR:
      return parse_own_address(header);
    case RTM_NEWNEIGH:
    case RTM_DELNEIGH:
      return parse_neighbour(header);
    case RTM_NEWNEXTHOP:
    case RTM_DELNEXTHOP:
      return parse_nexthop(header);
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      return parse_route(header);
    default:
      return OtherMessage{};
  }
}

}  // namespace turnpike::router
