// SPDX-License-Identifier: BSD-3-Clause
// Builds rtnetlink messages by libmnl, as the kernel sends them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>

#include "common/config/address.h"
#include "router/linux/messages.h"

namespace turnpike::router::test_messages {

/// A message in memory of exactly its size, so that a sanitizer reports any read beyond it.
class RawMessage {
 public:
  template <class Family>
  RawMessage(uint16_t type, const Family& family, uint16_t flags = 0) {
    buffer_.resize(4096);
    header_ = mnl_nlmsg_put_header(buffer_.data());
    header_->nlmsg_type = type;
    header_->nlmsg_flags = flags;
    *static_cast<Family*>(mnl_nlmsg_put_extra_header(header_, sizeof family)) = family;
  }
  RawMessage(const RawMessage&) = delete;
  RawMessage& operator=(const RawMessage&) = delete;

  RawMessage& put(uint16_t type, uint32_t number) {
    mnl_attr_put_u32(header_, type, number);
    return *this;
  }
  RawMessage& put(uint16_t type, const std::string& text) {
    mnl_attr_put_strz(header_, type, text.c_str());
    return *this;
  }
  RawMessage& put_bytes(uint16_t type, const std::vector<uint8_t>& bytes) {
    mnl_attr_put(header_, type, bytes.size(), bytes.data());
    return *this;
  }
  /// An IPv4 or IPv6 address as text.
  RawMessage& put_address(uint16_t type, const std::string& text) {
    return put_bytes(type, address_bytes(text));
  }
  RawMessage& put_flag(uint16_t type) {
    mnl_attr_put(header_, type, 0, nullptr);
    return *this;
  }

  [[nodiscard]] Message parse() const { return parse_first(header_->nlmsg_len); }
  /// The message with only its first `length` bytes.
  [[nodiscard]] Message parse_first(uint32_t length) const {
    std::vector<char> copy(buffer_.begin(), buffer_.begin() + length);
    auto* header = reinterpret_cast<nlmsghdr*>(copy.data());
    header->nlmsg_len = length;
    return parse_message(*header);
  }
  [[nodiscard]] uint32_t length() const { return header_->nlmsg_len; }

  static std::vector<uint8_t> address_bytes(const std::string& text) {
    if (const auto v4 = config::parse_ipv4(text)) {
      return {static_cast<uint8_t>(*v4 >> 24), static_cast<uint8_t>(*v4 >> 16),
              static_cast<uint8_t>(*v4 >> 8), static_cast<uint8_t>(*v4)};
    }
    const config::Ipv6 v6 = config::parse_ipv6(text).value();
    return {v6.begin(), v6.end()};
  }

 private:
  std::vector<char> buffer_;
  nlmsghdr* header_ = nullptr;
};

/// One next hop of RTA_MULTIPATH.
struct RawHop {
  int interface = 0;
  std::string gateway = {};  // empty: none
  uint8_t weight = 1;
  uint8_t flags = 0;
};

inline std::vector<uint8_t> multipath(const std::vector<RawHop>& hops) {
  std::vector<uint8_t> bytes;
  const auto add = [&](const void* data, size_t size) {
    const auto* from = static_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), from, from + size);
  };
  for (const RawHop& hop : hops) {
    const std::vector<uint8_t> gateway =
        hop.gateway.empty() ? std::vector<uint8_t>{} : RawMessage::address_bytes(hop.gateway);
    const size_t nested = gateway.empty() ? 0 : MNL_ATTR_HDRLEN + gateway.size();
    const rtnexthop next{.rtnh_len = static_cast<uint16_t>(sizeof(rtnexthop) + nested),
                         .rtnh_flags = hop.flags,
                         .rtnh_hops = static_cast<uint8_t>(hop.weight - 1),
                         .rtnh_ifindex = hop.interface};
    add(&next, sizeof next);
    if (gateway.empty()) continue;
    const nlattr attribute{.nla_len = static_cast<uint16_t>(nested), .nla_type = RTA_GATEWAY};
    add(&attribute, sizeof attribute);
    add(gateway.data(), gateway.size());
  }
  return bytes;
}

inline Message link_message(int interface, const std::string& name,
                            unsigned flags = unsigned{IFF_UP} | unsigned{IFF_LOWER_UP},
                            uint32_t mtu = 1500) {
  ifinfomsg h{};
  h.ifi_index = interface;
  h.ifi_flags = flags;
  return RawMessage(RTM_NEWLINK, h).put(IFLA_IFNAME, name).put(IFLA_MTU, mtu).parse();
}

inline Message removed_link(int interface) {
  ifinfomsg h{};
  h.ifi_index = interface;
  return RawMessage(RTM_DELLINK, h).parse();
}

inline Message own_address(uint16_t type, int interface, const std::string& address,
                           uint8_t length) {
  ifaddrmsg h{};
  h.ifa_family = config::parse_ipv4(address) ? AF_INET : AF_INET6;
  h.ifa_prefixlen = length;
  h.ifa_index = static_cast<uint32_t>(interface);
  return RawMessage(type, h).put_address(IFA_LOCAL, address).parse();
}

inline Message neighbour(int interface, const std::string& address, uint16_t state,
                         uint8_t last_byte = 1) {
  ndmsg h{};
  h.ndm_family = config::parse_ipv4(address) ? AF_INET : AF_INET6;
  h.ndm_ifindex = interface;
  h.ndm_state = state;
  RawMessage m(RTM_NEWNEIGH, h);
  m.put_address(NDA_DST, address);
  if ((state & (NUD_INCOMPLETE | NUD_FAILED)) == 0) {
    m.put_bytes(NDA_LLADDR, {2, 0, 0, 0, 0, last_byte});
  }
  return m.parse();
}

inline Message nexthop(uint32_t id, int interface, const std::string& gateway) {
  nhmsg h{};
  h.nh_family = config::parse_ipv4(gateway) ? AF_INET : AF_INET6;
  return RawMessage(RTM_NEWNEXTHOP, h)
      .put(NHA_ID, id)
      .put(NHA_OIF, static_cast<uint32_t>(interface))
      .put_address(NHA_GATEWAY, gateway)
      .parse();
}

inline Message nexthop_group(uint32_t id,
                             const std::vector<std::pair<uint32_t, uint8_t>>& members) {
  std::vector<uint8_t> bytes;
  for (const auto& [member, weight] : members) {
    nexthop_grp g{};
    g.id = member;
    g.weight = static_cast<uint8_t>(weight - 1);
    const auto* from = reinterpret_cast<const uint8_t*>(&g);
    bytes.insert(bytes.end(), from, from + sizeof g);
  }
  return RawMessage(RTM_NEWNEXTHOP, nhmsg{}).put(NHA_ID, id).put_bytes(NHA_GROUP, bytes).parse();
}

inline Message removed_nexthop(uint32_t id) {
  return RawMessage(RTM_DELNEXTHOP, nhmsg{}).put(NHA_ID, id).parse();
}

/// A route over `hops`, or by a nexthop object.
struct RawRoute {
  std::string prefix;
  std::vector<RawHop> hops = {};
  uint32_t metric = 0;
  uint8_t protocol = RTPROT_BGP;
  uint8_t type = RTN_UNICAST;
  uint32_t nexthop = 0;
  uint8_t table = RT_TABLE_MAIN;
  uint16_t flags = NLM_F_CREATE;
  uint16_t message = RTM_NEWROUTE;
};

inline Message route(const RawRoute& r) {
  rtmsg h{};
  const auto v4 = config::parse_ipv4_prefix(r.prefix);
  h.rtm_family = v4 ? AF_INET : AF_INET6;
  h.rtm_dst_len = v4 ? v4->length : config::parse_ipv6_prefix(r.prefix).value().length;
  h.rtm_table = r.table;
  h.rtm_type = r.type;
  h.rtm_protocol = r.protocol;
  RawMessage m(r.message, h, r.flags);
  if (h.rtm_dst_len > 0) m.put_address(RTA_DST, r.prefix.substr(0, r.prefix.find('/')));
  if (r.metric > 0) m.put(RTA_PRIORITY, r.metric);
  if (r.nexthop > 0) m.put(RTA_NH_ID, r.nexthop);
  if (r.hops.size() == 1) {
    m.put(RTA_OIF, static_cast<uint32_t>(r.hops[0].interface));
    if (!r.hops[0].gateway.empty()) m.put_address(RTA_GATEWAY, r.hops[0].gateway);
  } else if (r.hops.size() > 1) {
    m.put_bytes(RTA_MULTIPATH, multipath(r.hops));
  }
  return m.parse();
}

}  // namespace turnpike::router::test_messages
