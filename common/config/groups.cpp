// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/groups.h"

#include <algorithm>

#include "common/config/link_param.h"

namespace turnpike::config {

bool has_groups(const LawChoice& law) {
  const auto groups = link_param(law, "groups");
  return groups && law.params[*groups] != 0;
}

bool has_groups(const Topology& topology) {
  return std::ranges::any_of(topology.links, [](const Link& link) {
    return std::ranges::any_of(link.directions,
                               [](const Direction& d) { return has_groups(d.law); });
  });
}

}  // namespace turnpike::config
