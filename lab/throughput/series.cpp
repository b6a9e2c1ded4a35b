// SPDX-License-Identifier: BSD-3-Clause
#include "lab/throughput/series.h"

#include "common/report/number.h"
#include "lab/columns.h"

namespace turnpike::lab {
namespace {

using Json = nlohmann::ordered_json;
using report::significant;

constexpr const char* kImix = "imix";

std::vector<std::string> row(const Measured& m, const GoalResult& goal) {
  const std::string lcores =
      m.variant.lcores == 0 ? "as the file" : std::to_string(m.variant.lcores);
  std::vector<std::string> cells{m.variant.frames.empty() ? "as the file" : m.variant.frames,
                                 lcores, significant(100 * goal.goal, 3)};
  if (!goal.best) {
    cells.insert(cells.end(), {"-", "-", "-", "-", "-", "no rate that was tried"});
    return cells;
  }
  const Trial& t = goal.confirmed ? *goal.confirmed : *goal.best;
  cells.insert(cells.end(), {significant(t.carried_pps * 1e-6, 4), significant(t.l1_mbps, 4),
                             significant(100 * t.share, 4),
                             t.cycles > 0 ? significant(t.cycles, 3) : "-", significant(t.p99, 3)});
  cells.emplace_back(goal.unconfirmed ? "NOT CONFIRMED"
                     : goal.generator ? "limited by the traffic generator"
                                      : "");
  return cells;
}

}  // namespace

std::vector<Variant> variants(std::span<const std::string> frames,
                              std::span<const unsigned> lcores) {
  const std::vector<std::string> all_frames =
      frames.empty() ? std::vector<std::string>{""} : std::vector(frames.begin(), frames.end());
  const std::vector<unsigned> all_lcores =
      lcores.empty() ? std::vector<unsigned>{0} : std::vector(lcores.begin(), lcores.end());
  std::vector<Variant> all;
  for (const unsigned n : all_lcores)
    for (const std::string& size : all_frames) all.push_back({.frames = size, .lcores = n});
  return all;
}

tl::expected<std::vector<config::Setting>, std::string> settings_for(
    const Variant& variant, const config::Topology& topology) {
  std::vector<config::Setting> settings;
  if (!variant.frames.empty())
    for (const config::Stream& s : topology.streams)
      settings.push_back(
          {.path = "traffic.streams." + s.name + ".frames",
           .value = variant.frames == kImix ? kImix : "{sizes: " + variant.frames + " B}"});
  for (const config::Router& r : topology.routers) {
    if (variant.lcores == 0) break;
    if (r.lcores.size() < variant.lcores)
      return tl::unexpected("router " + r.name + " has " + std::to_string(r.lcores.size()) +
                            " lcores in the file, and " + std::to_string(variant.lcores) +
                            " are to be measured: list more under routers." + r.name + ".lcores");
    std::string list;
    for (unsigned i = 0; i < variant.lcores; ++i)
      list += (list.empty() ? "[" : ", ") + std::to_string(r.lcores[i]);
    settings.push_back({.path = "routers." + r.name + ".lcores", .value = list + "]"});
  }
  return settings;
}

Json series_json(std::span<const Measured> series) {
  Json all = Json::array();
  for (const Measured& m : series) {
    Json frames = Json::array(), lcores = Json::object();
    if (!m.topology.streams.empty())
      for (const Bytes size : m.topology.streams.front().frames) frames.push_back(size.count());
    for (const config::Router& r : m.topology.routers) lcores[r.name] = r.lcores;
    Json entry{{"frames", std::move(frames)}, {"lcores", std::move(lcores)}};
    entry.update(measurement_json(m.measurement));
    all.push_back(std::move(entry));
  }
  return all;
}

std::string series_text(std::span<const Measured> series) {
  std::vector<std::vector<std::string>> rows{{"frames, B", "lcores", "lost at most, %", "Mpps",
                                              "Mbps on the line", "% of the file's rate",
                                              "cycles/packet", "p99 us", ""}};
  for (const Measured& m : series)
    for (const GoalResult& goal : m.measurement.goals) rows.push_back(row(m, goal));
  return columns(rows, 2);
}

}  // namespace turnpike::lab
