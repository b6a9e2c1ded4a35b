// SPDX-License-Identifier: BSD-3-Clause
#include "router/reload/leaves.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/config/address.h"
#include "common/config/resolve.h"
#include "common/config/yaml_tree.h"
#include "common/units/text.h"

namespace turnpike::router {
namespace {

using Keys = std::vector<std::string>;
using config::YamlNode;

Keys with(Keys keys, std::string key) {
  keys.push_back(std::move(key));
  return keys;
}

std::string text_of(const YamlNode& node) {
  if (node.is_scalar()) return node.text;
  std::string text;
  const auto add = [&](const std::string& item) { text += (text.empty() ? "" : ", ") + item; };
  for (const YamlNode& item : node.items) add(text_of(item));
  for (const config::Entry& e : node.entries) add(e.key + ": " + text_of(e.value));
  return node.is_sequence() ? "[" + text + "]" : "{" + text + "}";
}

/// Keys of a link that are written once if both directions have the same value.
constexpr std::array<std::string_view, 9> kOfDirections{
    "rate", "delay", "buffer", "overhead", "loss", "reorder", "jitter", "drain", "source_check"};

void add(const YamlNode& node, const Keys& keys, std::vector<Leaf>& out);

void add_routes(const YamlNode& routes, const Keys& keys, std::vector<Leaf>& out) {
  for (const YamlNode& route : routes.items)
    if (const config::Entry* prefix = route.find("prefix"), *via = route.find("via");
        prefix != nullptr && via != nullptr) {
      const config::Entry* distance = route.find("distance");
      out.push_back({with(keys, prefix->value.text),
                     "via " + via->value.text +
                         (distance != nullptr ? " distance " + distance->value.text : "")});
    }
}

void add_entries(const YamlNode& map, const Keys& keys, std::vector<Leaf>& out) {
  const bool link = keys.size() == 2 && keys[0] == "links";
  if (keys.back() == "law" && map.entries.size() == 1)
    out.push_back({keys, map.entries.front().key});
  std::string order;
  for (const config::Entry& e : map.entries) {
    order += (order.empty() ? "" : ", ") + e.key;
    if (link && std::ranges::find(kOfDirections, e.key) != kOfDirections.end()) {
      for (const char* direction : {"forward", "reverse"})
        add(e.value, with(with(keys, direction), e.key), out);
    } else {
      add(e.value, with(keys, e.key), out);
    }
  }
  if (map.entries.empty()) out.push_back({keys, "{}"});
  // The first class that matches takes a packet.
  if (keys.back() == "classes" && keys[0] == "links") out.push_back({with(keys, kOrderKey), order});
}

void add(const YamlNode& node, const Keys& keys, std::vector<Leaf>& out) {
  if (node.is_map()) return add_entries(node, keys, out);
  if (node.is_sequence() && keys.size() == 3 && keys[0] == "routers" && keys[2] == "routes")
    return add_routes(node, keys, out);
  out.push_back({keys, text_of(node)});
}

/// Counts items and hashes them (FNV-1a).
class Content {
 public:
  void add(const std::string& item) {
    ++items_;
    for (const char c : item + "\n") hash_ = (hash_ ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  [[nodiscard]] std::string text(const std::string& of) const {
    constexpr const char* kDigits = "0123456789abcdef";
    std::string checksum;
    for (int shift = 60; shift >= 32; shift -= 4) checksum += kDigits[hash_ >> shift & 15];
    return std::to_string(items_) + " " + of + (items_ == 0 ? "" : ", checksum " + checksum);
  }

 private:
  size_t items_ = 0;
  uint64_t hash_ = 0xcbf29ce484222325;
};

template <class Prefix>
void add_range(const config::Topology& t, const std::vector<config::Route<Prefix>>& routes,
               size_t begin, size_t end, Content& content) {
  for (size_t i = begin; i < end; ++i)
    content.add(config::prefix_text(routes[i].prefix) + " " + t.links[routes[i].link].name);
}

void add_tables(const config::Topology& t, std::vector<Leaf>& out) {
  for (const config::Router& r : t.routers) {
    const size_t table4 = r.ipv4_by_hand + r.ipv4_in_table,
                 table6 = r.ipv6_by_hand + r.ipv6_in_table;
    Content table, computed;
    add_range(t, r.ipv4_routes, r.ipv4_by_hand, table4, table);
    add_range(t, r.ipv6_routes, r.ipv6_by_hand, table6, table);
    add_range(t, r.ipv4_routes, table4, r.ipv4_routes.size(), computed);
    add_range(t, r.ipv6_routes, table6, r.ipv6_routes.size(), computed);
    out.push_back({{"routers", r.name, "table content"}, table.text("routes")});
    out.push_back({{"routers", r.name, "computed routes"}, computed.text("routes")});
  }
  Content customers;
  const size_t by_hand = t.customers.size() - t.customers_in_table;
  const auto add_customers = [&](const auto& prefixes) {
    for (const auto& p : prefixes)
      if (p.customer >= by_hand) {
        const config::Customer& c = t.customers[p.customer];
        customers.add(config::prefix_text(p.prefix) + " " + to_text(c.budget) + " " +
                      (c.group == config::kNoIndex ? "" : t.groups[c.group].name));
      }
  };
  add_customers(t.ipv4_customers);
  add_customers(t.ipv6_customers);
  out.push_back({{"customer_table content"}, customers.text("customers")});
}

void add_branches(const config::Topology& t, std::vector<Leaf>& out) {
  for (const config::Tree& tree : t.trees)
    for (const config::Branch& b : tree.branches) {
      std::string text = t.links[b.upstream].name + " to";
      for (const size_t l : b.children) text += " " + t.links[l].name;
      out.push_back({{"trees", tree.name, "branch at " + t.routers[b.router].name}, text});
    }
}

}  // namespace

std::string path_of(const std::vector<std::string>& keys) {
  std::string path;
  for (const std::string& key : keys) path += (path.empty() ? "" : ".") + key;
  return path;
}

tl::expected<std::vector<Leaf>, std::string> leaves_of(const config::Topology& topology) {
  config::Mistakes mistakes("configuration");
  const auto tree = config::parse_yaml(config::resolved_text(topology), mistakes);
  if (!tree) return tl::unexpected("too large to compare: " + mistakes.sorted().front().message);
  std::vector<Leaf> leaves;
  for (const config::Entry& e : tree->entries) add(e.value, {e.key}, leaves);
  add_tables(topology, leaves);
  add_branches(topology, leaves);
  return leaves;
}

}  // namespace turnpike::router
