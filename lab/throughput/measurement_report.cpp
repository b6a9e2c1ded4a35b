// SPDX-License-Identifier: BSD-3-Clause
// Formats a measurement as JSON and as lines of text.
#include <nlohmann/json.hpp>

#include "common/report/number.h"
#include "lab/columns.h"
#include "lab/throughput/measure.h"

namespace turnpike::lab {
namespace {

using Json = nlohmann::ordered_json;
using report::significant;

std::string mpps(double pps) { return significant(pps * 1e-6, 4); }

std::string confirmed_text(const GoalResult& g) {
  if (g.unconfirmed) return "; NOT CONFIRMED by longer trials";
  return g.confirmed ? "; confirmed at " + mpps(g.confirmed->carried_pps) + " Mpps" : "";
}

std::string goal_text(const GoalResult& g) {
  const std::string name =
      g.goal == 0 ? "no loss" : "at most " + significant(100 * g.goal, 3) + " % lost";
  if (!g.best) return "  " + name + ": at no rate that was tried\n";
  return "  " + name + ": " + mpps(g.best->carried_pps) + " Mpps, " +
         significant(g.best->l1_mbps, 4) + " Mbps with preambles and gaps" +
         (g.best->cycles > 0
              ? ", " + significant(g.best->cycles, 3) + " cycles of the router per packet"
              : "") +
         (g.generator ? "; limited by the traffic generator" : "") + confirmed_text(g) + "\n";
}

}  // namespace

Json measurement_json(const Measurement& m) {
  Json out;
  if (m.generator)
    out["generator"] = trial_json(*m.generator);
  else
    out["generator"] = nullptr;
  if (!m.uncalibrated.empty()) out["uncalibrated"] = m.uncalibrated;
  out["throughput"] = Json::array();
  for (const GoalResult& g : m.goals) {
    Json goal{{"loss_goal", g.goal}, {"limited_by_generator", g.generator}};
    goal["pps"] = g.best ? Json(g.best->carried_pps) : Json();
    goal["l1_mbps"] = g.best ? Json(g.best->l1_mbps) : Json();
    goal["best"] = g.best ? trial_json(*g.best) : Json();
    goal["confirmed"] = g.confirmed ? trial_json(*g.confirmed) : Json();
    if (g.unconfirmed) goal["unconfirmed"] = true;
    out["throughput"].push_back(std::move(goal));
  }
  if (!m.latencies.empty()) out["latency"] = Json::array();
  for (const LatencyResult& l : m.latencies) {
    Json at{{"part_of_lossless", l.part}, {"device", trial_json(l.device)}};
    at["loopback"] = l.loopback ? trial_json(*l.loopback) : Json();
    out["latency"].push_back(std::move(at));
  }
  out["trials"] = Json::array();
  for (const Trial& t : m.trials) out["trials"].push_back(trial_json(t));
  if (!m.platforms.empty()) out["platforms"] = m.platforms;
  return out;
}

std::string measurement_text(const Measurement& m) {
  std::string out;
  if (m.generator)
    out += "  the generator with itself: " + mpps(m.generator->carried_pps) + " Mpps\n";
  if (!m.uncalibrated.empty())
    out += "  the generator was not calibrated: " + m.uncalibrated + "\n";
  for (const GoalResult& g : m.goals) out += goal_text(g);
  if (m.latencies.empty()) return out;
  std::vector<std::vector<std::string>> rows{
      {"of the rate without loss", "Mpps", "p50 us", "p99 us", "p99.9 us", "max us", "valid"}};
  const auto add = [&](const std::string& what, const Trial& t) {
    rows.push_back({what, mpps(t.offered_pps), significant(t.p50), significant(t.p99),
                    significant(t.p999), significant(t.max), t.faults.empty() ? "yes" : "no"});
  };
  for (const LatencyResult& l : m.latencies) {
    const std::string part = significant(100 * l.part, 3) + " %";
    add(part, l.device);
    if (l.loopback) add(part + ", loopback", *l.loopback);
  }
  return out + "\n" + columns(rows, 1);
}

}  // namespace turnpike::lab
