// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/run_report.h"

#include <cmath>

#include "common/report/number.h"
#include "common/report/page.h"
#include "common/report/run_charts.h"
#include "common/report/run_limits.h"
#include "common/report/run_tables.h"

namespace turnpike::report {
namespace {

std::string title_of(const nlohmann::json& summary) {
  const auto it = summary.find("scenario");
  return it != summary.end() && it->is_string() ? it->get<std::string>() : "A run";
}

std::string taken_text(const nlohmann::json& summary) {
  const double taken = number_at(summary, {"machine", "taken"});
  return taken > 0 ? " The machine took " + percent(taken, 1) +
                         " of the time; shares and utilisation may be lower by as much."
                   : "";
}

void say_verdict(const nlohmann::json& summary, Page& page) {
  const auto it = summary.find("verdict");
  if (it == summary.end() || !it->is_object()) return;
  const double intervals = number_at(*it, {"intervals"});
  if (!(intervals > 0)) {
    page.paragraph("No steady interval of endless flows alone: no shares were measured.");
    return;
  }
  const auto yes = [&](const char* key) { return it->contains(key) && (*it)[key] == true; };
  const double lost = number_at(*it, {"lost_packets"});
  const std::string text =
      "Greatest deviation of a host from the share that its budget entitles it to: " +
      percent(number_at(*it, {"worst_error"})) + " (tolerance " +
      percent(number_at(*it, {"tolerance"}), 0) + ", " + fixed(intervals, 0) +
      " steady intervals). Lowest utilisation of a bottleneck: " +
      percent(number_at(*it, {"lowest_utilization"}), 1) + ". Packets lost: " + fixed(lost, 0) +
      "." + taken_text(summary);
  page.verdict(yes("shares_ok") && yes("utilization_ok") && lost == 0, text);
}

/// Warns of streams with packets that were due but not sent, or without latencies.
void warn_of_streams(const nlohmann::json& summary, Page& page) {
  const auto streams = summary.find("streams");
  if (streams == summary.end() || !streams->is_object()) return;
  for (const auto& [name, s] : streams->items()) {
    if (!s.is_object()) continue;
    if (s.value("kept_up", nlohmann::json()) == false)
      page.verdict(false, name + ": THE SENDER DID NOT KEEP UP: " +
                              fixed(number_at(s, {"unsent_packets"}), 0) + " of " +
                              fixed(number_at(s, {"offered_packets"}), 0) +
                              " packets were due but not sent; the transmit queue was full " +
                              fixed(number_at(s, {"no_room"}), 0) + " times, mbufs ran out " +
                              fixed(number_at(s, {"no_buffer"}), 0) + " times.");
    if (number_at(s, {"untimed_packets"}) > 0)
      page.paragraph(
          name + ": " + fixed(number_at(s, {"untimed_packets"}), 0) +
          " packets were time-stamped by another clock than the receiver's: latency unknown.");
  }
}

void show_figure(const Chart& chart, const char* caption, bool half, Page& page) {
  for (const Series& s : chart.series)
    for (const double v : s.y)
      if (std::isfinite(v)) return page.figure(svg(chart), caption, half);
}

void show_tables(const std::vector<HtmlTable>& tables, Page& page) {
  for (const HtmlTable& t : tables)
    if (!t.rows.empty()) page.table(t);
}

}  // namespace

std::string run_page(const RunData& run) {
  Page page(title_of(run.summary));
  const HtmlTable streams = stream_packet_table(run.summary), hosts = host_table(run.summary);
  const bool flows = streams.rows.empty() || !hosts.rows.empty();
  if (const std::string limits = limits_text(run.summary); !limits.empty())
    page.verdict(false, limits);
  if (flows) {
    say_verdict(run.summary, page);
    page.heading("Shares");
    show_tables({share_table(run.summary)}, page);
    show_figure(rate_chart(run), "Rate of each host, and the rate that its budget entitles it to.",
                false, page);
  }
  if (!streams.rows.empty()) {
    page.heading("Streams");
    warn_of_streams(run.summary, page);
    show_tables({stream_rate_table(run.summary), streams, stream_latency_table(run.summary)}, page);
  }
  page.heading("Links");
  show_tables({link_table(run.summary), utilization_table(run.summary)}, page);
  show_figure(price_chart(run), "Price per byte at each link.", false, page);
  show_figure(queue_bytes_chart(run), "Queue at each link.", true, page);
  show_figure(queue_delay_chart(run), "Queueing delay at each link.", true, page);
  show_figure(utilization_chart(run), "Utilisation of each sampling interval.", true, page);
  show_figure(rtt_chart(run), "Round trip time of each host's flows.", true, page);
  if (flows) {
    page.heading("Hosts and flows");
    show_tables({hosts, delay_table(run.summary), flow_table(run.summary)}, page);
  }
  page.heading("The run");
  show_tables({fact_table(run.summary)}, page);
  page.data("summary", run.summary.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return page.html();
}

tl::expected<std::string, std::string> render_run_report(const std::string& folder) {
  const auto run = read_run(folder);
  if (!run) return tl::unexpected(run.error());
  const std::string path = folder + "/report.html";
  if (const auto written = write_text(path, run_page(*run)); !written)
    return tl::unexpected(written.error());
  return path;
}

}  // namespace turnpike::report
