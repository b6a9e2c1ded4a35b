// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/run_tables.h"

#include <cmath>
#include <utility>

#include "common/report/number.h"
#include "common/report/run_data.h"

namespace turnpike::report {
namespace {

using nlohmann::json;

/// The object or array at `key`, or an empty object.
const json& part(const json& tree, const char* key) {
  static const json nothing = json::object();
  if (!tree.is_object()) return nothing;
  const auto it = tree.find(key);
  return it != tree.end() && it->is_structured() ? *it : nothing;
}

Cell shown(double v, int digits = 4) { return number(significant(v, digits)); }
Cell count(double v) {
  return number(v >= 0 && v < 1e18 ? grouped(static_cast<uint64_t>(v)) : kNoNumber);
}

std::string span_text(const json& interval) {
  return fixed(number_at(interval, {"from"}), 2) + "–" + fixed(number_at(interval, {"to"}), 2);
}

/// Bytes in the largest unit that keeps them at least 1.
std::string bytes_text(double v) {
  for (const auto& [unit, size] : {std::pair{" GB", 1e9}, {" MB", 1e6}, {" KB", 1e3}})
    if (v >= size) return significant(v / size, 3) + unit;
  return significant(v, 3) + " B";
}

}  // namespace

HtmlTable share_table(const json& summary) {
  HtmlTable t{.caption = "Measured against entitled rates in each steady interval.",
              .columns = {"interval (s)", "host", "measured (Mbps)", "entitled (Mbps)", "error"}};
  const double tolerance = number_at(summary, {"verdict", "tolerance"});
  for (const json& i : part(summary, "intervals")) {
    std::string span = span_text(i);                    // shown once per interval
    const double taken = number_or_zero(i, {"taken"});  // share of the time that the machine took
    for (const auto& [name, host] : part(i, "hosts").items()) {
      const double error = number_at(host, {"error"});
      const bool bad = std::isfinite(tolerance) && !(std::fabs(error) <= tolerance + taken);
      t.rows.push_back({std::exchange(span, ""),
                        name,
                        number(fixed(number_at(host, {"measured_mbps"}), 2)),
                        number(fixed(number_at(host, {"entitled_mbps"}), 2)),
                        {percent(error, 2, true), bad ? Cell::Look::kBad : Cell::Look::kGood}});
    }
  }
  return t;
}

HtmlTable utilization_table(const json& summary) {
  HtmlTable t{.caption = "Utilisation of the bottlenecks in each steady interval.",
              .columns = {"interval (s)", "link", "utilisation"}};
  for (const json& i : part(summary, "intervals")) {
    std::string span = span_text(i);
    for (const auto& [name, link] : part(i, "links").items())
      if (link.is_object() && link.value("bottleneck", json()) == true)
        t.rows.push_back(
            {std::exchange(span, ""), name, number(percent(number_at(link, {"utilization"}), 1))});
  }
  return t;
}

HtmlTable link_table(const json& summary) {
  HtmlTable t{.caption = "Links with a law, over the whole run.",
              .columns = {"link", "law", "rate (Mbps)", "utilisation", "queue mean (KB)",
                          "queue max (KB)", "delay p99 (ms)", "dropped"}};
  for (const auto& [name, link] : part(summary, "links").items()) {
    const json law = link.is_object() ? link.value("law", json()) : json();
    if (!law.is_string() || law == "none") continue;
    t.rows.push_back({name, law.get<std::string>(), shown(number_at(link, {"rate_mbps"})),
                      number(percent(number_at(link, {"utilization"}), 1)),
                      shown(number_at(link, {"queue_bytes", "mean"}) / 1e3, 3),
                      shown(number_at(link, {"queue_bytes", "max"}) / 1e3, 3),
                      shown(number_at(link, {"queue_delay_ms", "p99"}), 3),
                      count(number_at(link, {"dropped_packets"}))});
  }
  return t;
}

HtmlTable host_table(const json& summary) {
  HtmlTable t{.caption = "Hosts that sent, over the whole run.",
              .columns = {"host", "budget ($/s)", "goodput (Mbps)", "sent (Mbps)", "offered (Mbps)",
                          "spent ($)", "lost", "retransmitted"}};
  for (const auto& [name, host] : part(summary, "hosts").items()) {
    if (!(number_at(host, {"sent_packets"}) > 0)) continue;
    t.rows.push_back({name, shown(number_at(host, {"budget"})),
                      number(fixed(number_at(host, {"goodput_mbps"}), 2)),
                      number(fixed(number_at(host, {"sent_mbps"}), 2)),
                      number(fixed(number_at(host, {"offered_mbps"}), 2)),
                      shown(number_at(host, {"spend"})), count(number_at(host, {"lost_packets"})),
                      count(number_at(host, {"retransmitted_packets"}))});
  }
  return t;
}

HtmlTable delay_table(const json& summary) {
  HtmlTable t{.caption = "Delays in ms, over the whole run. Queueing is RTT less its least value.",
              .columns = {"host", "", "samples", "mean", "p50", "p90", "p99", "p99.9", "max"}};
  for (const auto& [name, host] : part(summary, "hosts").items())
    for (const auto& [key, label] : {std::pair{"rtt_ms", "RTT"}, {"queueing_ms", "queueing"}}) {
      const json& d = part(host, key);
      if (!(number_at(d, {"count"}) > 0)) continue;
      t.rows.push_back({name, label, count(number_at(d, {"count"}))});
      for (const char* column : {"mean", "p50", "p90", "p99", "p999", "max"})
        t.rows.back().push_back(number(fixed(number_at(d, {column}), 3)));
    }
  return t;
}

HtmlTable flow_table(const json& summary) {
  const json& flows = part(summary, "flows");
  HtmlTable t{.caption = "Completion times of finite flows by size: " +
                         fixed(number_at(flows, {"completed"}), 0) + " completed, mean " +
                         significant(number_at(flows, {"afct_s"})) + " s.",
              .columns = {"from", "to", "flows", "mean (s)"}};
  for (const json& s : part(flows, "by_size"))
    t.rows.push_back({number(bytes_text(number_at(s, {"min_bytes"}))),
                      number(bytes_text(number_at(s, {"max_bytes"}))),
                      count(number_at(s, {"count"})), shown(number_at(s, {"afct_s"}))});
  return t;
}

HtmlTable stream_rate_table(const json& summary) {
  HtmlTable t{.caption =
                  "Open-loop streams, over the time that each was to send; on the line with "
                  "preambles and gaps.",
              .columns = {"stream", "offered (Mpps)", "achieved (Mpps)", "of frames (Mbps)",
                          "on the line (Mbps)", "kept up"}};
  for (const auto& [name, s] : part(summary, "streams").items()) {
    if (!(number_at(s, {"offered_packets"}) >= 0)) continue;
    const bool behind = s.value("kept_up", json()) == false;
    t.rows.push_back({name,
                      shown(number_at(s, {"offered_pps"}) * 1e-6),
                      shown(number_at(s, {"achieved_pps"}) * 1e-6),
                      shown(number_at(s, {"achieved_l2_mbps"})),
                      shown(number_at(s, {"achieved_l1_mbps"})),
                      {behind ? "NO" : "yes", behind ? Cell::Look::kBad : Cell::Look::kGood}});
  }
  return t;
}

HtmlTable stream_packet_table(const json& summary) {
  HtmlTable t{
      .caption = "Packets of streams, counted once on arrival; lost packets relative to sent ones.",
      .columns = {"stream", "due", "sent", "received", "lost", "loss", "reordered", "duplicates"}};
  for (const auto& [name, s] : part(summary, "streams").items()) {
    if (!s.is_object()) continue;
    t.rows.push_back({name});
    for (const char* key : {"offered_packets", "sent_packets", "received_packets", "lost_packets"})
      t.rows.back().push_back(count(number_at(s, {key})));
    t.rows.back().push_back(number(significant(100 * number_at(s, {"loss"}), 3) + "\u00a0%"));
    for (const char* key : {"reordered_packets", "duplicate_packets"})
      t.rows.back().push_back(count(number_at(s, {key})));
  }
  return t;
}

HtmlTable stream_latency_table(const json& summary) {
  HtmlTable t{
      .caption = "Latency of streams in µs, from the sender's poll to the receiver's.",
      .columns = {"stream", "stamped by", "samples", "mean", "p50", "p90", "p99", "p99.9", "max"}};
  for (const auto& [name, s] : part(summary, "streams").items()) {
    const json& us = part(s, "latency_us");
    if (!(number_at(us, {"count"}) > 0)) continue;
    const json clock = s.value("stamped_by", json());
    t.rows.push_back({name, clock.is_string() ? clock.get<std::string>() : kNoNumber,
                      count(number_at(us, {"count"}))});
    for (const char* column : {"mean", "p50", "p90", "p99", "p999", "max"})
      t.rows.back().push_back(shown(number_at(us, {column})));
  }
  return t;
}

HtmlTable fact_table(const json& summary) {
  HtmlTable t;
  t.columns = {"fact", "value"};
  const auto add = [&](const std::string& name, const json& v) {
    if (v.is_string())
      t.rows.push_back({name, v.get<std::string>()});
    else if (v.is_number_integer())
      t.rows.push_back({name, v.dump()});
    else if (v.is_number())
      t.rows.push_back({name, significant(v.get<double>())});
  };
  for (const auto& [key, label] : {std::pair{"scenario", "scenario"},
                                   {"seed", "seed"},
                                   {"duration_s", "duration (s)"},
                                   {"wall_s", "wall time (s)"},
                                   {"packets", "data packets"}})
    if (summary.contains(key)) add(label, summary[key]);
  for (const auto& [name, value] : part(summary, "facts").items()) add(name, value);
  return t;
}

}  // namespace turnpike::report
