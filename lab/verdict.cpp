// SPDX-License-Identifier: BSD-3-Clause
#include "lab/verdict.h"

#include <vector>

#include <nlohmann/json.hpp>

#include "common/report/number.h"
#include "common/report/run_data.h"
#include "common/report/run_limits.h"
#include "lab/columns.h"
#include "sender/results/summary.h"

namespace turnpike::lab {
namespace {

using report::fixed;
using report::number_at;

/// A law that sees no packets for a while gives the link's time away; that is no mistake of the
/// law.
std::string stalls_text(const nlohmann::json& summary) {
  double sender = 0, routers = 0;
  for (const auto& lcore : summary.value("lcores", nlohmann::json::array()))
    sender += number_at(lcore, {"stalled_ms"});
  for (const auto& ms : summary.value("stalled_ms", nlohmann::json::object()))
    routers += ms.get<double>();
  if (!(sender + routers > 0)) return "";
  return "The machine kept the sender waiting for " + fixed(sender, 0) + " ms, routers for " +
         fixed(routers, 0) + " ms, of " + fixed(number_at(summary, {"duration_s"}), 0) +
         " s: where it is busy or virtual, try again when it is quieter\n";
}

std::string percent(double ratio, int decimals) { return fixed(ratio * 100, decimals) + " %"; }

}  // namespace

std::string verdict_text(const nlohmann::json& summary) {
  std::vector<std::vector<std::string>> rows{
      {"steady interval", "host", "measured Mbps", "entitled Mbps", "error"}};
  std::vector<std::vector<std::string>> links{{"steady interval", "bottleneck", "utilisation"}};
  for (const auto& i : summary.value("intervals", nlohmann::json::array())) {
    const std::string span =
        fixed(number_at(i, {"from"}), 1) + " to " + fixed(number_at(i, {"to"}), 1) + " s";
    for (const auto& [name, host] : i["hosts"].items())
      rows.push_back({span, name, fixed(number_at(host, {"measured_mbps"}), 2),
                      fixed(number_at(host, {"entitled_mbps"}), 2),
                      percent(number_at(host, {"error"}), 2)});
    for (const auto& [name, link] : i["links"].items())
      if (link["bottleneck"] == true)
        links.push_back({span, name, percent(number_at(link, {"utilization"}), 2)});
  }
  if (rows.size() == 1) return "There was no steady interval to judge.\n";

  const auto& verdict = summary["verdict"];
  const double dropped = number_at(verdict, {"dropped_packets"});
  std::string out = columns(rows) + "\n" + columns(links) +
                    "\n  packets lost: " + fixed(number_at(verdict, {"lost_packets"}), 0);
  if (dropped >= 0) out += ", dropped by routers: " + fixed(dropped, 0);
  out += "\n\n";
  const bool good = sender::verdict_good(summary);
  out += good ? "Shares agree with budgets" : "NOT as it should be";
  out += ": greatest error " + percent(number_at(verdict, {"worst_error"}), 2) + " of at most " +
         percent(number_at(verdict, {"tolerance"}), 0) + ", lowest utilisation " +
         percent(number_at(verdict, {"lowest_utilization"}), 2) + " of at least " +
         percent(sender::kLeastUtilization, 0) + "\n";
  out += report::limits_text(summary);
  return good ? out : out + stalls_text(summary);
}

}  // namespace turnpike::lab
