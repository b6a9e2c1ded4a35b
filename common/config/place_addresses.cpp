// SPDX-License-Identifier: BSD-3-Clause
// Checks addresses from the file; assigns a subnet to each other link, counting up, in the prefix
// of its router if it has one.
#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "common/config/address.h"
#include "common/config/draft.h"

namespace turnpike::config {
namespace {

/// One end's prefix in one family, as the file gives it.
template <class Prefix>
struct Given {
  std::optional<Prefix> prefix;
  Position at;
  std::string path;
};

// --- differences between the two families --------------------------------------------------------

constexpr unsigned bits(const Ipv4Prefix&) { return 32; }
constexpr unsigned bits(const Ipv6Prefix&) { return 128; }

std::string text_of(const Ipv4Prefix& p) { return ipv4_text(p.address); }
std::string text_of(const Ipv6Prefix& p) { return ipv6_text(p.address); }

Ipv4Prefix numbered(const Ipv4Prefix& subnet, unsigned n) {
  return {network(subnet).address | n, subnet.length};
}
Ipv6Prefix numbered(const Ipv6Prefix& subnet, unsigned n) {
  Ipv6Prefix out{network(subnet).address, subnet.length};
  out.address[15] |= static_cast<uint8_t>(n);
  return out;
}

// The `attempt`-th choice for link number `n` of `links`: 10.x.y.0/24 first, then 172.16.0.0/12 if
// the file uses all of 10.0.0.0/8 itself.
std::optional<Ipv4Prefix> candidate(const Ipv4Prefix&, size_t n, size_t links, size_t attempt) {
  const size_t step = std::max<size_t>(std::bit_ceil(links), 1024);
  const size_t tens = 65536 / step, rest = 4096 / step;
  if (attempt >= tens + rest) return {};
  const bool ten = attempt < tens;
  const size_t k = n + step * (ten ? attempt : attempt - tens);
  return Ipv4Prefix{static_cast<Ipv4>((ten ? 0x0a000000 : 0xac100000) + (k << 8)), 24};
}
// fd00:74:<attempt>:<link>::/64
std::optional<Ipv6Prefix> candidate(const Ipv6Prefix&, size_t n, size_t /*links*/, size_t attempt) {
  if (attempt > 255) return {};
  Ipv6Prefix out{{0xfd, 0, 0, 0x74}, 64};
  out.address[5] = static_cast<uint8_t>(attempt);
  out.address[6] = static_cast<uint8_t>(n >> 8);
  out.address[7] = static_cast<uint8_t>(n);
  return out;
}

// Length of subnets that links take from a router's prefix.
constexpr unsigned subnet_length(const Ipv4Prefix&) { return 30; }
constexpr unsigned subnet_length(const Ipv6Prefix&) { return 64; }

// Subnet number `n` of a router's prefix; std::nullopt: there are fewer.
std::optional<Ipv4Prefix> subnet_of(const Ipv4Prefix& prefix, size_t n) {
  if (n >> (30 - prefix.length) != 0) return {};
  return Ipv4Prefix{prefix.address | static_cast<Ipv4>(n << 2), 30};
}
std::optional<Ipv6Prefix> subnet_of(const Ipv6Prefix& prefix, size_t n) {
  if (const unsigned spare = 64 - prefix.length; spare < 63 && n >> spare != 0) return {};
  Ipv6Prefix out{prefix.address, 64};
  for (size_t byte = 8; byte-- > 0; n >>= 8) out.address[byte] |= static_cast<uint8_t>(n);
  return out;
}

const char* unusable(const Ipv4Prefix& p) {
  const Ipv4 top = p.address >> 24;
  if (top == 0 || top == 127 || top >= 224) return "is no interface's address (RFC 1122, 3.2.1.3)";
  const Ipv4 mask = p.length == 0 ? ~Ipv4{0} : ~(~Ipv4{0} << (32 - p.length));
  if (p.length <= 30 && ((p.address & mask) == 0 || (p.address & mask) == mask))
    return "is its subnet's own or broadcast address";
  return p.length == 0 ? "has no subnet" : nullptr;
}
const char* unusable(const Ipv6Prefix& p) {
  if (p.address[0] == 0xff || contains({{}, 120}, p.address) ||
      contains({{0xfe, 0x80}, 10}, p.address))
    return "is no routable interface's address (RFC 4291)";
  if (p.length <= 126 && network(p).address == p.address)
    return "is its subnet's router anycast address";
  return p.length == 0 ? "has no subnet" : nullptr;
}

// --- code for both families ----------------------------------------------------------------------

// Orders prefixes such that those that cover another come right before it and its neighbours.
template <class Prefix>
auto order_of(const Prefix& p) {
  return std::pair(network(p).address, p.length);
}

// Address space in use: prefixes of which none covers another.
template <class Prefix>
class Space {
 public:
  void add(const Prefix& prefix) {
    if (!overlaps(prefix)) used_.emplace(order_of(prefix), prefix);
  }
  [[nodiscard]] bool overlaps(const Prefix& prefix) const {
    const auto next = used_.lower_bound(order_of(prefix));
    if (next != used_.end() && covers(prefix, next->second)) return true;
    return next != used_.begin() && covers(std::prev(next)->second, prefix);
  }

 private:
  std::map<std::pair<decltype(Prefix::address), uint8_t>, Prefix> used_;
};

template <class Prefix>
class Family {
 public:
  Family(Draft& draft, Prefix Interface::*member, std::optional<Prefix> Router::*prefix,
         const char* name)
      : d_(draft),
        member_(member),
        prefix_(prefix),
        name_(name),
        given_(draft.topology.links.size()),
        next_(draft.topology.routers.size()) {}

  // The prefix of a router's links.
  void give(size_t router, const Prefix& prefix, Position at, const std::string& path) {
    std::optional<Prefix>& mine = d_.topology.routers[router].*prefix_;
    if (mine) {
      complain(at, path, std::string("a second ") + name_ + " prefix");
    } else if (network(prefix).address != prefix.address) {
      complain(at, path,
               "bits beyond the prefix length are set (did you mean '" +
                   prefix_text(network(prefix)) + "'?)");
    } else if (prefix.length == 0 || prefix.length > subnet_length(prefix)) {
      complain(at, path,
               "a subnet of each link has the length " + std::to_string(subnet_length(prefix)) +
                   ": the prefix must be shorter, or as long");
    } else {
      mine = prefix;
      prefixes_.push_back({router, at, path});
    }
  }

  void give(size_t link, size_t end, const Prefix& prefix, Position at, const std::string& path) {
    Given<Prefix>& mine = given_[link][end];
    if (mine.prefix) {
      complain(at, path, std::string("a second ") + name_ + " address");
    } else if (const char* why = unusable(prefix)) {
      complain(at, path, text_of(prefix) + " " + why);
    } else {
      mine = {prefix, at, path};
    }
  }

  void place() {
    std::map<decltype(Prefix::address), std::string> owners;
    for (size_t i = 0; i < given_.size(); ++i) {
      if (settle_given(i)) settled_.push_back(i);
      for (size_t e = 0; e < 2; ++e) check_owner(owners, i, e);
    }
    check_overlaps();
    check_prefixes();
    for (const size_t i : settled_) used_.add(network(address(i, 0)));
    used_outside_ = used_;
    for (const GivenPrefix& p : prefixes_) used_outside_.add(prefix_of(p.router));
    for (size_t i = 0; i < given_.size(); ++i)
      if (!given_[i][0].prefix && !given_[i][1].prefix) assign(i);
  }

 private:
  struct GivenPrefix {
    size_t router;
    Position at;
    std::string path;
  };

  [[nodiscard]] const Prefix& prefix_of(size_t router) const {
    return *(d_.topology.routers[router].*prefix_);
  }

  // With a wrong address, routing tables are not built.
  void complain(Position at, const std::string& path, std::string message) {
    d_.mistakes.add(at, path, std::move(message));
    d_.tables_right = false;
  }

  Prefix& address(size_t link, size_t end) { return d_.topology.links[link].ends[end].*member_; }

  // One given end fixes the other; two must agree. False if none is given or one is wrong.
  bool settle_given(size_t i) {
    const auto& [a, b] = given_[i];
    if (!a.prefix && !b.prefix) return false;
    if (a.prefix && b.prefix) {
      address(i, 0) = *a.prefix;
      address(i, 1) = *b.prefix;
      if (a.prefix->length == b.prefix->length && covers(*a.prefix, *b.prefix)) return true;
      complain(b.at, b.path,
               prefix_text(*b.prefix) + " is not in the subnet of the other end, " +
                   prefix_text(network(*a.prefix)));
      return false;
    }
    const size_t known = a.prefix ? 0 : 1;
    const Prefix& own = *given_[i][known].prefix;
    address(i, known) = own;
    const unsigned spare = bits(own) - own.length;
    if (spare == 0) {
      complain(given_[i][known].at, given_[i][known].path,
               "a subnet of one address: the other end of '" + d_.topology.links[i].name +
                   "' needs one too");
      return false;
    }
    // RFC 3021 and RFC 6164: a subnet of two addresses uses both, 0 and 1.
    const unsigned first = spare == 1 ? 0 : 1;
    const Prefix choice = numbered(own, first);
    address(i, 1 - known) = choice.address == own.address ? numbered(own, first + 1) : choice;
    return true;
  }

  void check_owner(std::map<decltype(Prefix::address), std::string>& owners, size_t i, size_t e) {
    const Given<Prefix>& mine = given_[i][e];
    if (!mine.prefix) return;
    const Link& link = d_.topology.links[i];
    const auto [first, fresh] = owners.emplace(
        mine.prefix->address, "'" + link.ends[e].node + "' on link '" + link.name + "'");
    if (fresh) return;
    complain(mine.at, mine.path,
             text_of(*mine.prefix) + " is the address of " + first->second + " already");
    doubled_.insert(i);
  }

  // Reports links whose subnets overlap that of an earlier link.
  void check_overlaps() {
    std::vector<size_t> order = settled_, around;  // around: those that cover the current one
    std::ranges::sort(order, {}, [&](size_t i) { return std::pair(order_of(address(i, 0)), i); });
    for (const size_t i : order) {
      while (!around.empty() && !covers(address(around.back(), 0), network(address(i, 0))))
        around.pop_back();
      for (const size_t other : around) {
        if (d_.mistakes.full()) return;
        check_overlap(std::min(i, other), std::max(i, other));
      }
      around.push_back(i);
    }
  }

  // A router's prefix overlaps no other one's, nor a subnet of a link that does not end there.
  void check_prefixes() {
    std::ranges::sort(prefixes_, {},
                      [&](const GivenPrefix& p) { return order_of(prefix_of(p.router)); });
    for (size_t i = 1, outer = 0; i < prefixes_.size(); ++i) {
      const Prefix& here = prefix_of(prefixes_[i].router);
      const size_t other = prefixes_[outer].router;
      if (!covers(prefix_of(other), here))
        outer = i;
      else
        complain(prefixes_[i].at, prefixes_[i].path,
                 prefix_text(here) + " overlaps the prefix of '" + d_.topology.routers[other].name +
                     "', " + prefix_text(prefix_of(other)));
    }
    for (const size_t i : settled_) check_subnet(i);
  }

  void check_subnet(size_t i) {
    const Prefix subnet = network(address(i, 0));
    // Of the prefixes in order, those on both sides of the subnet.
    auto p = std::ranges::upper_bound(
        prefixes_, std::pair(subnet.address, static_cast<uint8_t>(bits(subnet))), {},
        [&](const GivenPrefix& g) { return order_of(prefix_of(g.router)); });
    const auto overlap = [&](const GivenPrefix& g) {
      const Prefix& prefix = prefix_of(g.router);
      return covers(prefix, subnet) || covers(subnet, prefix);
    };
    if (p == prefixes_.end() || !overlap(*p))
      if (p == prefixes_.begin() || !overlap(*--p)) return;
    const Link& link = d_.topology.links[i];
    const Router& router = d_.topology.routers[p->router];
    const bool ends_there = link.ends[0].node == router.name || link.ends[1].node == router.name;
    if (ends_there && covers(prefix_of(p->router), subnet)) return;
    const auto& [a, b] = given_[i];
    const Given<Prefix>& told = a.prefix ? a : b;
    complain(told.at, told.path,
             prefix_text(subnet) + " overlaps the prefix of '" + router.name + "', " +
                 prefix_text(prefix_of(p->router)));
  }

  void check_overlap(size_t i, size_t j) {
    if (doubled_.contains(i) || doubled_.contains(j)) return;  // reported already
    const Prefix &one = address(i, 0), &other = address(j, 0);
    if (!covers(one, network(other)) && !covers(other, network(one))) return;
    const auto& [a, b] = given_[j];
    const Given<Prefix>& told = a.prefix ? a : b;
    complain(told.at, told.path,
             prefix_text(network(other)) + " overlaps the subnet of link '" +
                 d_.topology.links[i].name + "', " + prefix_text(network(one)) +
                 (d_.topology.links[i].vlan == d_.topology.links[j].vlan
                      ? ""
                      : ": VLANs have no routes of their own"));
  }

  // The first end that is a router with a prefix.
  [[nodiscard]] std::optional<size_t> owner_of(size_t i) const {
    for (const Interface& end : d_.topology.links[i].ends)
      if (const auto r = d_.routers.find(end.node);
          r != d_.routers.end() && d_.topology.routers[r->second].*prefix_)
        return r->second;
    return {};
  }

  void assign(size_t i) {
    const auto owner = owner_of(i);
    for (size_t attempt = 0;; ++attempt) {
      const auto subnet = owner ? subnet_of(prefix_of(*owner), next_[*owner]++)
                                : candidate(Prefix{}, i, given_.size(), attempt);
      if (!subnet) break;
      if ((owner ? used_ : used_outside_).overlaps(*subnet)) continue;
      address(i, 0) = numbered(*subnet, 1);
      address(i, 1) = numbered(*subnet, 2);
      return;
    }
    complain(d_.file.links.value[i].at, d_.link_path(i),
             std::string("no ") + name_ + " subnet is left for this link" +
                 (owner ? " in the prefix of '" + d_.topology.routers[*owner].name + "'" : "") +
                 ": give addresses");
  }

  Draft& d_;
  Prefix Interface::*member_;
  std::optional<Prefix> Router::*prefix_;
  const char* name_;
  std::vector<std::array<Given<Prefix>, 2>> given_;
  std::vector<GivenPrefix> prefixes_;
  std::vector<size_t> next_;           // subnet of a router's prefix, by router
  Space<Prefix> used_, used_outside_;  // by the file; the latter with routers' prefixes
  std::vector<size_t> settled_;        // links with correct addresses in the file
  std::set<size_t> doubled_;
};

// The end of the link that `name` is; reports a mistake if it is neither.
std::optional<size_t> end_named(Draft& d, size_t link, const std::string& name, Position at,
                                const std::string& path) {
  const auto& ends = d.topology.links[link].ends;
  for (size_t e = 0; e < 2; ++e)
    if (ends[e].node == name) return e;
  const std::array<std::string_view, 2> names{ends[0].node, ends[1].node};
  if (!names[0].empty() && !names[1].empty())
    d.mistakes.add(at, path, "'" + name + "' is not an end of this link" + suggestion(name, names));
  return {};
}

class AllMacs {
 public:
  explicit AllMacs(Draft& draft) : d_(draft), given_(draft.topology.links.size()) {}

  void give(size_t link, size_t end, const Field<Mac>& mac, const std::string& path) {
    if (!mac.given || mac.wrong) return;
    if (std::exchange(given_[link][end], true)) {
      d_.mistakes.add(mac.at, path, "a second MAC address");
      return;
    }
    d_.topology.links[link].ends[end].mac = mac.value;
    const std::string owner = d_.topology.links[link].ends[end].node;
    if (const auto [first, fresh] = owners_.emplace(mac.value, owner); !fresh)
      d_.mistakes.add(mac.at, path,
                      mac_text(mac.value) + " is the address of '" + first->second + "' already");
  }

  // Locally administered: 02:54:50 ("TP"), link, end. Counts up past addresses that the file gives.
  void assign() {
    for (size_t i = 0; i < given_.size(); ++i)
      for (size_t e = 0; e < 2; ++e) {
        if (given_[i][e]) continue;
        Mac mac;
        for (size_t number = 256 * i + e + 1;; ++number) {
          mac = {0x02,
                 0x54,
                 0x50,
                 static_cast<uint8_t>(number >> 16),
                 static_cast<uint8_t>(number >> 8),
                 static_cast<uint8_t>(number)};
          if (owners_.emplace(mac, d_.topology.links[i].ends[e].node).second) break;
        }
        d_.topology.links[i].ends[e].mac = mac;
      }
  }

 private:
  Draft& d_;
  std::vector<std::array<bool, 2>> given_;
  std::map<Mac, std::string> owners_;
};

}  // namespace

void place_addresses(Draft& d) {
  Family<Ipv4Prefix> v4(d, &Interface::ipv4, &Router::ipv4_prefix, "IPv4");
  Family<Ipv6Prefix> v6(d, &Interface::ipv6, &Router::ipv6_prefix, "IPv6");
  AllMacs macs(d);
  const auto give = [&](size_t link, size_t end, const OneOrMany<AddressSpec>& list,
                        const std::string& path) {
    for (const auto& item : list.items) {
      if (item.wrong) continue;
      if (const auto* four = std::get_if<Ipv4Prefix>(&item.value.prefix))
        v4.give(link, end, *four, item.at, path);
      else
        v6.give(link, end, std::get<Ipv6Prefix>(item.value.prefix), item.at, path);
      const bool six = std::holds_alternative<Ipv6Prefix>(item.value.prefix);
      if (six && d.topology.links[link].mtu < kMinIpv6Mtu && d.link_spec(link).mtu.given)
        d.mistakes.add(d.link_spec(link).mtu.at, d.link_path(link) + ".mtu",
                       "IPv6 needs 1280 bytes at least (RFC 8200, 5)");
    }
  };
  for (size_t r = 0; r < d.topology.routers.size(); ++r) {
    const auto& [name, at, spec] = d.file.routers.value[r];
    for (const auto& item : spec.prefix.value.items) {
      if (item.wrong) continue;
      const std::string path = "routers." + name + ".prefix";
      if (const auto* four = std::get_if<Ipv4Prefix>(&item.value.prefix))
        v4.give(r, *four, item.at, path);
      else
        v6.give(r, std::get<Ipv6Prefix>(item.value.prefix), item.at, path);
    }
  }
  for (const auto& [name, at, spec] : d.file.hosts.value) {
    const size_t index = d.hosts.find(name)->second;
    if (!d.placed[index]) continue;
    const Host& host = d.topology.hosts[index];
    give(host.link, host.end, spec.addresses.value, "hosts." + name + ".addresses");
    macs.give(host.link, host.end, spec.mac, "hosts." + name + ".mac");
  }
  for (size_t i = 0; i < d.topology.links.size(); ++i) {
    const LinkSpec& spec = d.link_spec(i);
    for (const auto& [node, at, list] : spec.addresses.value) {
      const std::string path = d.link_path(i) + ".addresses." + node;
      if (const auto end = end_named(d, i, node, at, path)) give(i, *end, list, path);
    }
    for (const auto& [node, at, mac] : spec.macs.value) {
      const std::string path = d.link_path(i) + ".macs." + node;
      if (const auto end = end_named(d, i, node, at, path)) macs.give(i, *end, mac, path);
    }
  }
  v4.place();
  v6.place();
  macs.assign();
}

}  // namespace turnpike::config
