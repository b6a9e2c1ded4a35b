// SPDX-License-Identifier: BSD-3-Clause
// Settings that select a scheme for links and traffic, and the window with which the traffic
// starts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "common/protocols/registry.h"
#include "lab/compare/compare.h"

namespace turnpike::lab {
namespace {

/// The scheme's flow parameter of that name.
std::optional<double> flow_param(const Protocol& protocol, const ParamValues& params,
                                 std::string_view name) {
  const auto spec = std::ranges::find(protocol.flow_params, name, &ParamSpec::name);
  if (spec == protocol.flow_params.end()) return std::nullopt;
  return params[static_cast<size_t>(spec - protocol.flow_params.begin())];
}

/// Packets; NaN where the flow begins at a rate. Schemes that can do both have a parameter `start`,
/// of which 0 is the rate.
double first_window(const std::string& scheme, const ParamValues& params) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const Protocol* protocol = find_protocol(scheme);
  if (protocol == nullptr || flow_param(*protocol, params, "start") == 0) return kNone;
  return flow_param(*protocol, params, "first_window").value_or(kNone);
}

}  // namespace

double first_window(const config::Topology& topology) {
  double most = std::numeric_limits<double>::quiet_NaN();
  for (const config::Flow& f : topology.flows)
    most = std::fmax(most, first_window(f.protocol, f.params));
  for (const config::Workload& w : topology.workloads)
    most = std::fmax(most, first_window(w.protocol, w.params));
  return most;
}

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
