// SPDX-License-Identifier: BSD-3-Clause
// Multicast distribution trees: the union of the paths from a root to its receivers.
#include <algorithm>
#include <set>

#include "common/config/address.h"
#include "common/config/draft.h"
#include "common/config/pairs.h"
#include "common/config/path.h"

namespace turnpike::config {
namespace {

/// 239.1.0.n, of administrative scope (RFC 2365).
Ipv4 assigned_ipv4(size_t n) { return static_cast<Ipv4>(0xef010000 + n); }
/// ff3e::8000:n, source-specific and of global scope (RFC 3306, RFC 4607).
Ipv6 assigned_ipv6(size_t n) {
  Ipv6 address{0xff, 0x3e};
  address[12] = 0x80;
  address[14] = static_cast<uint8_t>(n >> 8);
  address[15] = static_cast<uint8_t>(n);
  return address;
}

class Trees {
 public:
  explicit Trees(Draft& draft) : d_(draft), pairs_(draft), paths_(draft.topology) {}

  void place(const Named<TreeSpec>& named) {
    const auto& [name, at, spec] = named;
    path_ = "trees." + name;
    check_name(name, at);
    Tree tree;
    tree.name = name;
    place_group(spec, tree);
    const auto root = pairs_.host(spec.root, join(path_, "root"));
    if (root) pairs_.check_played(*root, spec.root.at, join(path_, "root"));
    tree.root = root.value_or(0);
    place_receivers(spec, root, tree);
    d_.trees.emplace(name, d_.topology.trees.size());
    d_.topology.trees.push_back(std::move(tree));
  }

  /// Gives addresses to the trees that have none.
  void assign() {
    std::set<Ipv4> ipv4;
    std::set<Ipv6> ipv6;
    for (const Tree& tree : d_.topology.trees) {
      ipv4.insert(tree.ipv4);
      ipv6.insert(tree.ipv6);
    }
    size_t next4 = 0, next6 = 0;
    for (Tree& tree : d_.topology.trees) {
      while (tree.ipv4 == 0)
        if (const Ipv4 address = assigned_ipv4(++next4); ipv4.insert(address).second)
          tree.ipv4 = address;
      while (tree.ipv6 == Ipv6{})
        if (const Ipv6 address = assigned_ipv6(++next6); ipv6.insert(address).second)
          tree.ipv6 = address;
    }
  }

 private:
  void check_name(const std::string& name, Position at) {
    if (d_.hosts.contains(name) || d_.routers.contains(name))
      d_.mistakes.add(at, path_, "'" + name + "' is the name of a node already");
  }

  void place_group(const TreeSpec& spec, Tree& tree) {
    const auto& items = spec.group.value.items;
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].wrong) continue;
      const std::string where =
          join(path_, "group") + (items.size() > 1 ? "[" + std::to_string(i) + "]" : "");
      const auto* v4 = std::get_if<Ipv4>(&items[i].value.address);
      if (v4 != nullptr ? tree.ipv4 != 0 : tree.ipv6 != Ipv6{}) {
        d_.mistakes.add(items[i].at, where,
                        std::string("a second ") + (v4 != nullptr ? "IPv4" : "IPv6") + " address");
        continue;
      }
      if (v4 != nullptr) {
        tree.ipv4 = *v4;
      } else {
        tree.ipv6 = std::get<Ipv6>(items[i].value.address);
      }
      const bool taken = std::ranges::any_of(d_.topology.trees, [&](const Tree& other) {
        return v4 != nullptr ? other.ipv4 == tree.ipv4 : other.ipv6 == tree.ipv6;
      });
      if (taken) d_.mistakes.add(items[i].at, where, "another tree has this address already");
    }
  }

  void place_receivers(const TreeSpec& spec, std::optional<size_t> root, Tree& tree) {
    const auto& items = spec.receivers.value.items;
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string where =
          join(path_, "receivers") + (items.size() > 1 ? "[" + std::to_string(i) + "]" : "");
      const auto host = pairs_.host(items[i], where);
      if (!host) continue;
      if (std::ranges::find(tree.receivers, *host) != tree.receivers.end()) {
        d_.mistakes.add(items[i].at, where, "'" + items[i].value + "' is listed twice");
        continue;
      }
      pairs_.check_played(*host, items[i].at, where);
      tree.receivers.push_back(*host);
      if (!root) continue;
      if (*root == *host) {
        d_.mistakes.add(items[i].at, where, "'" + items[i].value + "' is the root");
      } else if (d_.placed[*root] && d_.placed[*host] && d_.tables_right && d_.ends_known) {
        add_path(tree, paths_.path(*root, *host, 4));
      }
    }
    std::ranges::stable_sort(tree.branches, {}, [&](const Branch& b) { return depth_[b.router]; });
    depth_.clear();
    branch_of_.clear();
  }

  // Joins the path to the tree at the last router that both have, so that every router has one
  // upstream link even where two paths part and meet again. No path: reported for each flow.
  void add_path(Tree& tree, const std::vector<Hop>& path) {
    for (size_t i = path.size(); i-- > 1;) {
      const std::string& node = d_.topology.links[path[i].link].ends[path[i].direction].node;
      const size_t router = d_.routers.find(node)->second;
      const auto [known, fresh] = branch_of_.emplace(router, tree.branches.size());
      if (fresh) {
        tree.branches.push_back({.router = router, .upstream = path[i - 1].link, .children = {}});
        depth_[router] = i;
      }
      auto& children = tree.branches[known->second].children;
      if (std::ranges::find(children, path[i].link) == children.end())
        children.push_back(path[i].link);
      if (!fresh) return;
    }
  }

  Draft& d_;
  Pairs pairs_;
  PathFinder paths_;
  std::string path_;
  std::map<size_t, size_t> branch_of_;  // by router: index into Tree::branches
  std::map<size_t, size_t> depth_;      // by router: links from the root
};

}  // namespace

void place_trees(Draft& d) {
  Trees trees(d);
  for (const auto& tree : d.file.trees.value) trees.place(tree);
  trees.assign();
}

}  // namespace turnpike::config
