// SPDX-License-Identifier: BSD-3-Clause
#include "sender/program/platform_record.h"

#include "common/program/platform.h"
#include "common/report/whole_file.h"

namespace turnpike::sender {

using Json = nlohmann::ordered_json;

std::string platform_name() { return platform_file("sender"); }

Json describe_platform(const config::Topology& topology,
                       std::span<const std::unique_ptr<LcoreRunner>> runners,
                       std::span<const unsigned> lcores) {
  Json platform = platform_json(lcores);
  platform["ports"] = Json::object();
  for (const auto& runner : runners)
    for (size_t i = 0; i < runner->ports().size(); ++i)
      platform["ports"][topology.hosts[runner->hosts()[i]].name] =
          port_json(read_port_facts(runner->ports()[i]->port()));
  return platform;
}

tl::expected<void, std::string> write_platform(Json platform, std::span<const LcoreReading> lcores,
                                               const std::string& folder) {
  for (size_t i = 0; i < lcores.size(); ++i)
    platform["lcores"][i].update(
        {{"busy", lcores[i].busy}, {"stalled_ms", to_seconds(lcores[i].stalled) * 1e3}});
  return report::write_text(folder + "/" + platform_name(), platform.dump(2) + "\n");
}

}  // namespace turnpike::sender
