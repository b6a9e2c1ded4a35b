// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/platform_record.h"

#include "common/program/platform.h"
#include "common/report/whole_file.h"

namespace turnpike::router {

using Json = nlohmann::ordered_json;

Json lcores_json(std::span<const LcoreFigures> lcores, std::span<const uint64_t> received) {
  Json rows = Json::array();
  for (size_t w = 0; w < lcores.size(); ++w) {
    const LcoreFigures& l = lcores[w];
    const double polled = to_seconds(l.busy + l.idle);
    uint64_t cycles = 0;
    for (const uint64_t c : l.stage_cycles) cycles += c;
    rows.push_back({{"worker", w},
                    {"lcore", l.lcore},
                    {"rx_packets", received[w]},
                    {"busy", polled > 0 ? to_seconds(l.busy) / polled : 0},
                    {"cycles_per_packet", nullptr},
                    {"stalled_ms", to_seconds(l.stalled) * 1e3}});
    if (l.timed_packets > 0)
      rows.back()["cycles_per_packet"] =
          static_cast<double>(cycles) / static_cast<double>(l.timed_packets);
  }
  return rows;
}

tl::expected<void, std::string> write_platform(Json platform, const Engine& engine,
                                               const std::string& node, const std::string& folder) {
  const Snapshot end = engine.router().snapshot();
  const Json figures = lcores_json(engine.lcores(), end.received_by);
  for (size_t w = 0; w < figures.size(); ++w) platform["lcores"][w].update(figures[w]);
  platform["ports"] = Json::object();
  const auto facts = engine.port_facts();
  for (size_t l = 0; l < facts.size(); ++l)
    platform["ports"][end.links[l].name] = port_json(facts[l]);
  return report::write_text(folder + "/" + platform_file("router-" + node),
                            platform.dump(2) + "\n");
}

}  // namespace turnpike::router
