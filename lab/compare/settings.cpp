// SPDX-License-Identifier: BSD-3-Clause
// A setting per link with a law and per entry of the traffic.
#include "lab/compare/compare.h"

namespace turnpike::lab {

std::vector<config::Setting> settings_for(const config::Topology& topology,
                                          const std::string& name) {
  std::vector<config::Setting> settings;
  const size_t plus = name.find('+');
  const std::string scheme = name.substr(0, plus);
  if (plus != std::string::npos) settings.push_back({"preset", name.substr(plus + 1)});
  for (const config::Link& link : topology.links) {
    for (size_t i = 0; i < 2; ++i) {
      const std::string& law = link.directions[i].law.protocol;
      if (law == "none" || law == scheme) continue;
      const std::string direction = i == 0 ? ".forward.law" : ".reverse.law";
      settings.push_back({"links." + link.name + direction, scheme});
    }
  }
  for (const config::Flow& f : topology.flows)
    if (f.protocol != scheme) settings.push_back({"traffic.flows." + f.name + ".protocol", scheme});
  for (const config::Workload& w : topology.workloads)
    if (w.protocol != scheme)
      settings.push_back({"traffic.workloads." + w.name + ".protocol", scheme});
  return settings;
}

}  // namespace turnpike::lab
