// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/generate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/draft.h"
#include "common/config/edge_list.h"
#include "common/config/reader.h"
#include "common/config/trace.h"
#include "common/protocols/random.h"
#include "common/units/input_file.h"

namespace turnpike::config {
namespace {

std::string numbered(const std::string& stem, unsigned n) { return stem + std::to_string(n); }

/// Counts the prefixes that generated routers have taken of 172.16.0.0/12 and fd00:75::/32: links
/// without a prefix take theirs from 10.0.0.0/8 and fd00:74::/32.
class PrefixPlan {
 public:
  /// Prefixes for a router whose links take `links` subnets from them.
  std::vector<Field<AddressSpec>> take(size_t links, Position at) {
    const auto addresses = static_cast<uint32_t>(4 * std::bit_ceil(std::max<size_t>(links, 1)));
    const uint32_t begin = (ipv4_ + addresses - 1) & ~(addresses - 1);
    ipv4_ = begin + addresses;
    const Ipv4Prefix v4{0xac100000 + begin, static_cast<uint8_t>(std::countl_zero(addresses) + 1)};
    const uint32_t number = ipv6_++;
    Ipv6Prefix v6{{0xfd, 0, 0, 0x75}, 48};
    v6.address[4] = static_cast<uint8_t>(number >> 8);
    v6.address[5] = static_cast<uint8_t>(number);
    return {{.value = {v4}, .at = at, .given = true}, {.value = {v6}, .at = at, .given = true}};
  }

 private:
  // kMaxLinks subnets of four addresses, in blocks of at most twice the size each of which wastes
  // at most as much before it: 2^20 addresses, as 172.16.0.0/12 has.
  uint32_t ipv4_ = 0, ipv6_ = 0;
};

/// The place of an AS in a square of side 1.
std::pair<double, double> place_of(uint32_t as) {
  SplitMix64 random(as);
  const double x = random.uniform();
  return {x, random.uniform()};
}

/// Adds the nodes and links of one network.
class Network {
 public:
  Network(FileSpec& file, Mistakes& mistakes, const Named<GenerateSpec>& named)
      : file_(file),
        mistakes_(mistakes),
        name_(named.name),
        at_(named.at),
        host_(named.value.hosts.value),
        links_(named.value.links),
        access_(named.value.access.given ? named.value.access : links_) {
    refuse(host_.addresses, "addresses");
    refuse(host_.mac, "mac");
    require_rate(links_, "links");
    if (named.value.access.given) require_rate(access_, "access");
  }

  void dumbbell(unsigned hosts) {
    const std::string west = router("-west"), east = router("-east");
    link(west, east, links_);
    for (unsigned i = 0; i < hosts; ++i) {
      link(host(numbered("-left", i)), west, access_);
      link(east, host(numbered("-right", i)), access_);
    }
  }

  void parking_lot(unsigned hops) {
    std::string before;
    for (unsigned i = 0; i <= hops; ++i) {
      const std::string next = router(numbered("-r", i));
      link(host(numbered("-h", i)), next, access_);
      if (i > 0) link(before, next, links_);
      before = next;
    }
  }

  void fat_tree(unsigned k) {
    const unsigned half = k / 2;
    std::vector<std::string> core;
    for (unsigned c = 0; c < half * half; ++c) core.push_back(router(numbered("-core", c)));
    for (unsigned pod = 0; pod < k; ++pod) {
      const std::string in_pod = std::to_string(pod) + "-";
      std::vector<std::string> aggregation;
      for (unsigned a = 0; a < half; ++a) {
        aggregation.push_back(router(numbered("-agg" + in_pod, a)));
        for (unsigned c = 0; c < half; ++c) link(aggregation.back(), core[a * half + c], links_);
      }
      for (unsigned e = 0; e < half; ++e) {
        const std::string edge = router(numbered("-edge" + in_pod, e));
        for (const std::string& a : aggregation) link(edge, a, links_);
        for (unsigned h = 0; h < half; ++h)
          link(host(numbered("-h" + in_pod + std::to_string(e) + "-", h)), edge, access_);
      }
    }
  }

  // A link's rate is that of `links` times the smaller number of neighbours of its two ends, at
  // most 10 Tbps. Its delay is that of `links` times the distance of their places in tenths,
  // rounded up.
  void as_like(const std::vector<AsEdge>& edges, unsigned hosts, PrefixPlan& plan) {
    std::map<uint32_t, unsigned> neighbours, provides;
    for (const AsEdge& e : edges) {
      ++neighbours[e.from];
      ++neighbours[e.to];
      ++provides[e.from];
    }
    if (const size_t all = edges.size() + neighbours.size() * hosts;
        file_.links.value.size() + all > kMaxLinks) {
      mistakes_.add(at_, path(), "more than " + std::to_string(kMaxLinks) + " links");
      return;
    }
    std::map<uint32_t, std::string> routers;
    for (const auto& [as, count] : neighbours) {
      const std::string& name = routers[as] = router("-as" + std::to_string(as));
      auto& prefix = file_.routers.value.back().value.prefix;
      prefix = {.value = {plan.take(provides[as] + hosts, at_)}, .at = at_, .given = true};
      for (unsigned h = 0; h < hosts; ++h)
        link(host(numbered("-as" + std::to_string(as) + "-h", h)), name, access_);
    }
    for (const AsEdge& e : edges) {
      constexpr double kSteps = 10;
      const auto [x1, y1] = place_of(e.from);
      const auto [x2, y2] = place_of(e.to);
      const double distance = std::max(std::ceil(kSteps * std::hypot(x1 - x2, y1 - y2)), 1.0);
      link(routers[e.from], routers[e.to], links_);
      LinkSpec& made = file_.links.value.back().value;
      const unsigned times = std::min(neighbours[e.from], neighbours[e.to]);
      made.rate.value = std::min(BitRate(made.rate.value.count() * times), BitRate(10e12));
      made.delay.value =
          Nanos(std::llround(static_cast<double>(made.delay.value.count()) * distance / kSteps));
    }
  }

  [[nodiscard]] const std::vector<std::string>& hosts() const { return hosts_; }

 private:
  [[nodiscard]] std::string path() const { return "generate." + name_; }

  /// A setting of hosts that several cannot share.
  template <class T>
  void refuse(Field<T>& field, const std::string& key) {
    if (field.given) mistakes_.add(field.at, path() + ".hosts." + key, "each host needs its own");
    field = {};
  }

  void require_rate(const Field<GeneratedLinkSpec>& settings, const std::string& key) {
    if (settings.given && !settings.wrong && !settings.value.rate.given)
      mistakes_.add(settings.at, path() + "." + key, "missing key 'rate'");
  }

  std::string host(const std::string& suffix) {
    hosts_.push_back(name_ + suffix);
    file_.hosts.value.push_back({hosts_.back(), at_, host_});
    return hosts_.back();
  }
  std::string router(const std::string& suffix) {
    return file_.routers.value.emplace_back(Named<RouterSpec>{name_ + suffix, at_, router_}).name;
  }
  void link(const std::string& from, const std::string& to,
            const Field<GeneratedLinkSpec>& settings) {
    Named<LinkSpec>& made = file_.links.value.emplace_back();
    made.name = from + std::string(to).replace(0, name_.size(), "");
    made.at = at_;
    LinkSpec& out = made.value = link_;
    const GeneratedLinkSpec& s = settings.value;
    out.rate = s.rate;
    out.rate.wrong |= !s.rate.given;  // reported once, not for each link
    out.delay = s.delay;
    out.buffer = s.buffer;
    out.drain = s.drain;
    out.law = s.law;
    out.mtu = s.mtu;
    out.ends = {.at = at_, .given = true};
    for (const std::string& end : {from, to})
      out.ends.value.push_back({.value = end, .at = at_, .given = true});
  }

  FileSpec& file_;
  Mistakes& mistakes_;
  const std::string& name_;
  Position at_;
  HostSpec host_;
  const RouterSpec router_ = default_router();
  const LinkSpec link_ = default_link();
  const Field<GeneratedLinkSpec>&links_, &access_;
  std::vector<std::string> hosts_;
};

// Hosts that networks' names stand for in all workloads: against hostile files, as kMaxNodes.
constexpr size_t kMaxNames = 100'000;

using HostsOf = std::map<std::string, std::vector<std::string>>;  // by network

/// Puts the hosts of networks in the place of the networks' names, `left` of them at most.
void put_hosts(const HostsOf& networks, OneOrMany<std::string>& names, const std::string& path,
               size_t& left, Mistakes& mistakes) {
  std::vector<Field<std::string>> all;
  for (const Field<std::string>& field : names.items) {
    const auto network = networks.find(field.value);
    if (network == networks.end()) {
      all.push_back(field);
      continue;
    }
    if (network->second.size() > left) {
      mistakes.add(field.at, path,
                   "networks stand for more than " + std::to_string(kMaxNames) +
                       " hosts in all workloads together");
      all.push_back({.value = field.value, .at = field.at, .given = true, .wrong = true});
      continue;
    }
    left -= network->second.size();
    for (const std::string& host : network->second)
      all.push_back({.value = host, .at = field.at, .given = true});
  }
  names.items = std::move(all);
}

/// Names that two entries of a table have. Those of the file itself are different.
template <class T>
void find_doubles(const Table<T>& table, size_t of_file, const char* path, Mistakes& mistakes) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < table.size(); ++i)
    if (!names.insert(table[i].name).second && i >= of_file)
      mistakes.add(table[i].at, join(path, table[i].name), "a generated network has it, too");
}

template <class T>
void require(Field<T>& field, const std::string& key, Mistakes& mistakes) {
  if (field.given || field.wrong) return;
  field.wrong = true;
  mistakes.add(field.at, "", "missing key '" + key + "'");
}

/// The edges of a list, of which there may be `most`; none if it cannot be read.
std::vector<AsEdge> edges_of(const AsLikeSpec& spec, const std::string& path, size_t most,
                             FileSpec& file, Mistakes& mistakes) {
  const std::string name =
      (std::filesystem::path(mistakes.file()).parent_path() / spec.file.value).string();
  file.edge_lists.push_back(name);
  const auto text = read_input_file(name, kMaxListBytes);
  if (text) return parse_edge_list(*text, name, path, most, mistakes);
  mistakes.add(spec.file.at, path, "'" + name + "' cannot be read: " + text.error());
  return {};
}

}  // namespace

void generate(FileSpec& file, Mistakes& mistakes) {
  if (!file.generate.given) {
    require(file.hosts, "hosts", mistakes);
    require(file.links, "links", mistakes);
    return;
  }
  const size_t hosts = file.hosts.value.size(), routers = file.routers.value.size(),
               links = file.links.value.size();
  HostsOf networks;
  PrefixPlan plan;
  for (const Named<GenerateSpec>& named : file.generate.value) {
    if (file.links.value.size() > kMaxLinks) break;  // reported by place_links()
    Network network(file, mistakes, named);
    const ShapeSpec& shape = named.value.shape.value;
    const auto sized = [](const Field<unsigned>& size) { return size.given && !size.wrong; };
    if (sized(shape.dumbbell)) network.dumbbell(shape.dumbbell.value);
    if (sized(shape.parking_lot)) network.parking_lot(shape.parking_lot.value);
    if (sized(shape.fat_tree) && shape.fat_tree.value % 2 == 0)
      network.fat_tree(shape.fat_tree.value);
    else if (sized(shape.fat_tree))
      mistakes.add(shape.fat_tree.at, "generate." + named.name + ".shape.fat_tree", "must be even");
    const auto& [list, each] = shape.as_like.value;
    if (shape.as_like.given && list.given && !list.wrong && !each.wrong) {
      const size_t left = kMaxLinks + 1 - file.links.value.size();
      const std::string path = "generate." + named.name + ".shape.as_like.file";
      network.as_like(edges_of(shape.as_like.value, path, left, file, mistakes), each.value, plan);
    }
    networks.emplace(named.name, network.hosts());
  }
  find_doubles(file.hosts.value, hosts, "hosts", mistakes);
  find_doubles(file.routers.value, routers, "routers", mistakes);
  find_doubles(file.links.value, links, "links", mistakes);
  size_t left = kMaxNames;
  for (auto& workload : file.traffic.value.workloads.value) {
    const std::string path = "traffic.workloads." + workload.name;
    put_hosts(networks, workload.value.from.value, path + ".from", left, mistakes);
    put_hosts(networks, workload.value.to.value, path + ".to", left, mistakes);
  }
}

}  // namespace turnpike::config
