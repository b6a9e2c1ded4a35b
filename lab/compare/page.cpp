// SPDX-License-Identifier: BSD-3-Clause
// Renders a comparison: for a terminal, as JSON, as a page.
#include "common/report/page.h"

#include <algorithm>
#include <cmath>

#include "common/report/number.h"
#include "lab/compare/figures.h"

namespace turnpike::lab {
namespace {

std::string shown(double v) { return std::isfinite(v) ? report::significant(v) : "-"; }

std::string padded(const std::string& text, size_t width, bool left) {
  const std::string space(width - std::min(width, text.size()), ' ');
  return left ? text + space : space + text;
}

/// A row per tenth of the flows, two columns per scheme.
report::HtmlTable completion_table(const Comparison& c, const std::vector<SizeTenth>& tenths) {
  report::HtmlTable table{.caption = "Completion time (s) of the flows in tenths by size.",
                          .columns = {"size (B)", "flows"}};
  for (const SchemeRun& run : c.runs)
    for (const char* figure : {" mean", " p99"}) table.columns.push_back(run.scheme + figure);
  for (const SizeTenth& tenth : tenths) {
    auto& row = table.rows.emplace_back();
    row.emplace_back(report::significant(tenth.least) + " to " +
                     report::significant(tenth.greatest));
    size_t flows = 0;
    for (const SizeFigures& f : tenth.runs) flows = std::max(flows, f.flows);
    row.push_back(report::number(std::to_string(flows)));
    for (const SizeFigures& f : tenth.runs)
      for (const double value : {f.mean, f.p99}) row.push_back(report::number(shown(value)));
  }
  return table;
}

nlohmann::json number_or_null(double v) {
  return std::isfinite(v) ? nlohmann::json(v) : nlohmann::json();
}

/// A list of the tenths by scheme.
nlohmann::json completion_json(const Comparison& c, const std::vector<SizeTenth>& tenths) {
  nlohmann::json out = nlohmann::json::object();
  for (size_t i = 0; i < c.runs.size(); ++i)
    for (const SizeTenth& tenth : tenths) {
      const SizeFigures& f = tenth.runs[i];
      out[c.runs[i].scheme].push_back({{"flows", f.flows},
                                       {"bytes", number_or_null(f.size)},
                                       {"mean_s", number_or_null(f.mean)},
                                       {"p99_s", number_or_null(f.p99)}});
    }
  return out;
}

}  // namespace

std::string compare_text(const Comparison& c) {
  const auto figures = figures_of(c);
  size_t first = 0;
  for (const Figure& f : figures) first = std::max(first, f.name.size());
  std::string out = padded("", first, true);
  for (const SchemeRun& run : c.runs) out += padded(run.scheme, 12, false);
  out += '\n';
  for (const Figure& f : figures) {
    out += padded(f.name, first, true);
    for (const double v : f.values) out += padded(shown(v), 12, false);
    out += '\n';
  }
  return out;
}

nlohmann::json compare_json(const Comparison& c) {
  nlohmann::json out{{"file", c.file}};
  for (const SchemeRun& run : c.runs) out["schemes"].push_back(run.scheme);
  for (const Figure& f : figures_of(c)) {
    nlohmann::json& row = out["figures"][f.name] = nlohmann::json::array();
    for (const double v : f.values) row.push_back(number_or_null(v));
  }
  out["completion_by_size"] = completion_json(c, completion_by_size(c));
  return out;
}

std::string compare_page(const Comparison& c) {
  report::Page page("Schemes compared: " + c.file);
  page.paragraph("The same topology, traffic and random numbers under every scheme, in the lab.");
  std::string windows;
  for (const SchemeRun& run : c.runs)
    if (std::isfinite(run.first_window))
      windows += (windows.empty() ? "" : ", ") + run.scheme + " " + shown(run.first_window);
  page.paragraph(
      "First window in packets (parameter first_window): " + (windows.empty() ? "none" : windows) +
      ". Flows of the other schemes begin at the rate that their handshake brings.");
  const auto tenths = completion_by_size(c);
  for (const report::Chart& chart : charts_of(c, tenths))
    page.figure(report::svg(chart), chart.title);
  report::HtmlTable table{.caption = "Over the whole run.", .columns = {""}};
  for (const SchemeRun& run : c.runs) table.columns.push_back(run.scheme);
  for (const Figure& f : figures_of(c)) {
    auto& row = table.rows.emplace_back();
    row.emplace_back(f.name);
    for (const double v : f.values) row.push_back(report::number(shown(v)));
  }
  page.heading("Figures");
  page.table(table);
  if (!tenths.empty()) page.table(completion_table(c, tenths));
  page.data("comparison", compare_json(c).dump());
  return page.html();
}

}  // namespace turnpike::lab
