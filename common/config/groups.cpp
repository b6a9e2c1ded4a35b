// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/groups.h"

#include <algorithm>

#include "common/protocols/registry.h"

namespace turnpike::config {

bool has_groups(const LawChoice& law) {
  const Protocol* protocol = find_protocol(law.protocol);
  // A law that is not resolved yet has no parameters.
  for (size_t i = 0; protocol != nullptr && i < law.params.size(); ++i)
    if (protocol->link_params[i].name == "groups") return law.params[i] != 0;
  return false;
}

bool has_groups(const Topology& topology) {
  return std::ranges::any_of(topology.links, [](const Link& link) {
    return std::ranges::any_of(link.directions,
                               [](const Direction& d) { return has_groups(d.law); });
  });
}

}  // namespace turnpike::config
