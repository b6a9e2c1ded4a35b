// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/without_law.h"

#include <algorithm>

#include "common/config/path.h"
#include "common/protocols/registry.h"

namespace turnpike::config {
namespace {

bool needs_law(const std::string& protocol) {
  const Protocol* known = find_protocol(protocol);
  return known != nullptr && !known->end_to_end;
}

bool has_law(const Topology& t, const std::vector<Hop>& hops, const std::string& protocol) {
  return std::any_of(hops.begin(), hops.end(), [&](const Hop& hop) {
    return t.links[hop.link].directions[hop.direction].law.protocol == protocol;
  });
}

bool some_path_has_law(PathFinder& paths, const Topology& t, const Workload& w) {
  const auto has = [&](size_t from, size_t to) {
    return has_law(t, paths.path(from, to, w.ip_version), w.protocol);
  };
  return std::any_of(w.to.begin(), w.to.end(),
                     [&](size_t to) { return has(w.from.front(), to); }) ||
         std::any_of(w.from.begin(), w.from.end(),
                     [&](size_t from) { return has(from, w.to.front()); });
}

}  // namespace

std::vector<std::string> without_law(const Topology& t) {
  std::vector<std::string> names;
  PathFinder paths(t);
  for (const Flow& f : t.flows)
    if (needs_law(f.protocol) && !has_law(t, hops_of(t, paths, f), f.protocol))
      names.push_back(f.name);
  for (const Workload& w : t.workloads)
    if (needs_law(w.protocol) && !some_path_has_law(paths, t, w)) names.push_back(w.name);
  return names;
}

}  // namespace turnpike::config
