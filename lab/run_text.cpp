// SPDX-License-Identifier: BSD-3-Clause
#include "lab/run_text.h"

#include <nlohmann/json.hpp>

#include "common/report/number.h"
#include "common/report/run_data.h"
#include "common/report/run_limits.h"
#include "lab/columns.h"
#include "sender/results/streams.h"

namespace turnpike::lab {
namespace {

using nlohmann::json;
using report::fixed;
using report::number_at;
using Rows = std::vector<std::vector<std::string>>;

std::string seconds_text(const json& span) {
  return fixed(number_at(span, {"from"}), 1) + " to " + fixed(number_at(span, {"to"}), 1) + " s";
}

void add_links(const json& span, const std::string& when, Rows& rows) {
  for (const auto& [name, link] : span["links"].items()) {
    if (link.value("law", "none") == "none" || !link.contains("utilization")) continue;
    rows.push_back({when, name, fixed(100 * number_at(link, {"utilization"}), 2),
                    fixed(number_at(link, {"queue_delay_ms", "mean"}), 3),
                    fixed(number_at(link, {"queue_delay_ms", "max"}), 3),
                    fixed(100 * number_at(link, {"loss_rate"}), 4),
                    report::significant(number_at(link, {"price", "last"}), 4)});
  }
}

void add_rates(const json& span, const std::string& when, Rows& rows) {
  for (const char* kind : {"hosts", "groups"})
    for (const auto& [name, of] : span[kind].items())
      if (const double rate = number_at(of, {"goodput_mbps"}); rate > 0)
        rows.push_back({when, kind[0] == 'h' ? "host" : "traffic", name, fixed(rate, 3)});
}

}  // namespace

std::string run_text(const json& summary) {
  Rows links{{"span", "link", "used %", "queue ms", "at most", "lost %", "price $/B"}};
  Rows rates{{"span", "of", "name", "Mbps"}};
  for (const auto& [name, span] : summary["measure"].items()) {
    const std::string when = name + ", " + seconds_text(span);
    add_links(span, when, links);
    add_rates(span, when, rates);
  }
  const std::string when = "all, " + fixed(number_at(summary, {"duration_s"}), 1) + " s";
  add_links(summary, when, links);
  add_rates(summary, when, rates);
  std::string out = columns(links) + "\n" + columns(rates, 3);
  const json& flows = summary["flows"];
  if (flows.contains("afct_s"))
    out += "\n  " + fixed(number_at(flows, {"completed"}), 0) + " flows completed, in " +
           fixed(number_at(flows, {"afct_s"}), 4) + " s on average, half of them within " +
           fixed(number_at(flows, {"fct_s", "p50"}), 4) + " s, 99 % within " +
           fixed(number_at(flows, {"fct_s", "p99"}), 4) + " s\n";
  if (const std::string streams = sender::streams_text(summary); !streams.empty())
    out += "\n" + streams;
  if (const std::string limits = report::limits_text(summary); !limits.empty())
    out += "\n  " + limits;
  return out;
}

std::string speed_text(const json& summary, double wall_s) {
  const double packets = number_at(summary, {"packets"});
  return "  " + fixed(packets, 0) + " data packets in " + fixed(wall_s, 2) +
         " s: " + report::significant(packets / wall_s, 3) + " a second, " +
         fixed(number_at(summary, {"duration_s"}) / wall_s, 1) + " times real time\n";
}

}  // namespace turnpike::lab
