// SPDX-License-Identifier: BSD-3-Clause
#include "lab/verdict.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/report/number.h"
#include "common/report/run_data.h"
#include "common/report/run_limits.h"
#include "lab/columns.h"
#include "sender/results/summary.h"

namespace turnpike::lab {
namespace {

using nlohmann::json;
using report::fixed;
using report::number_at;
using report::number_or_zero;

std::string percent(double ratio, int decimals) { return fixed(ratio * 100, decimals) + " %"; }

/// Formats a figure that only a run in real time, or one with a reference, has; "-" without it.
std::string percent_if_known(double ratio, int decimals) {
  return std::isfinite(ratio) ? percent(ratio, decimals) : "-";
}

std::string machine_text(const json& summary) {
  const json machine = summary.value("machine", json());
  if (!machine.is_object()) return "";
  const double whole = number_at(summary, {"duration_s"});
  const auto part = [&](const char* key) { return percent(number_at(machine, {key}) / whole, 1); };
  return "The machine took " + percent(number_at(machine, {"taken"}), 1) +
         " of the time: programs were stalled for " + part("stalled_s") +
         ", waited for a CPU for " + part("waited_s") + ", its hypervisor took " +
         part("stolen_s") + ", a probe was late by " + part("probe_late_s") + "\n";
}

}  // namespace

void add_reference(json& summary, const json& lab) {
  const json played = lab.value("intervals", json::array());
  for (json& i : summary["intervals"]) {
    const auto same = std::ranges::find_if(played, [&](const json& p) {
      return std::fabs(number_at(p, {"from"}) - number_at(i, {"from"})) < 1e-6;
    });
    if (same == played.end()) continue;
    for (auto& [name, host] : i["hosts"].items())
      host["lab"] = number_at(*same, {"hosts", name.c_str(), "error"});
    for (auto& [name, link] : i["links"].items())
      link["lab"] = number_at(*same, {"links", name.c_str(), "utilization"});
  }
  summary["verdict"]["lab_ok"] = sender::verdict_good(lab);
}

bool demo_good(const json& summary) {
  return sender::verdict_good(summary) && summary["verdict"].value("lab_ok", json(true)) == true;
}

std::string verdict_text(const json& summary) {
  const double tolerance = number_at(summary, {"verdict", "tolerance"});
  std::vector<std::vector<std::string>> rows{{"steady interval", "host", "entitled Mbps",
                                              "in real time", "error", "of at most",
                                              "error in the lab"}};
  std::vector<std::vector<std::string>> links{
      {"steady interval", "bottleneck", "utilisation", "of at least", "in the lab"}};
  for (const auto& i : summary.value("intervals", json::array())) {
    const double taken = number_or_zero(i, {"taken"});
    const std::string span =
        fixed(number_at(i, {"from"}), 1) + " to " + fixed(number_at(i, {"to"}), 1) + " s";
    for (const auto& [name, host] : i["hosts"].items())
      rows.push_back({span, name, fixed(number_at(host, {"entitled_mbps"}), 2),
                      fixed(number_at(host, {"measured_mbps"}), 2),
                      percent(number_at(host, {"error"}), 2), percent(tolerance + taken, 1),
                      percent_if_known(number_at(host, {"lab"}), 2)});
    for (const auto& [name, link] : i["links"].items())
      if (link["bottleneck"] == true)
        links.push_back({span, name, percent(number_at(link, {"utilization"}), 2),
                         percent(sender::kMinUtilization - taken, 1),
                         percent_if_known(number_at(link, {"lab"}), 2)});
  }
  if (rows.size() == 1) return "There was no steady interval to check.\n";

  const json& verdict = summary["verdict"];
  const double dropped = number_at(verdict, {"dropped_packets"});
  std::string out = columns(rows) + "\n" + columns(links) +
                    "\n  packets lost: " + fixed(number_at(verdict, {"lost_packets"}), 0);
  if (dropped >= 0) out += ", dropped by routers: " + fixed(dropped, 0);
  out += "\n\n" + machine_text(summary) + report::limits_text(summary);
  const bool exact = verdict.value("lab_ok", json(true)) == true;
  out += demo_good(summary) ? "Shares agree with budgets"
         : exact            ? "NOT as it should be"
                            : "NOT as it should be in the lab";
  return out + ": greatest error " + percent(number_at(verdict, {"worst_error"}), 2) +
         ", lowest utilisation " + percent(number_at(verdict, {"lowest_utilization"}), 2) + "\n";
}

}  // namespace turnpike::lab
