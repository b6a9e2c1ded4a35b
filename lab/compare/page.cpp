// SPDX-License-Identifier: BSD-3-Clause
// What a comparison looks like: in a terminal, as data, as a page.
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
    for (const double v : f.values) row.push_back(std::isfinite(v) ? nlohmann::json(v) : nullptr);
  }
  return out;
}

std::string compare_page(const Comparison& c) {
  report::Page page("Schemes compared: " + c.file);
  page.paragraph("The same topology, traffic and random numbers under every scheme, in the lab.");
  for (const report::Chart& chart : charts_of(c)) page.figure(report::svg(chart), chart.title);
  report::HtmlTable table{.caption = "Over the whole run.", .columns = {""}};
  for (const SchemeRun& run : c.runs) table.columns.push_back(run.scheme);
  for (const Figure& f : figures_of(c)) {
    auto& row = table.rows.emplace_back();
    row.emplace_back(f.name);
    for (const double v : f.values) row.push_back(report::number(shown(v)));
  }
  page.heading("Figures");
  page.table(table);
  page.data("comparison", compare_json(c).dump());
  return page.html();
}

}  // namespace turnpike::lab
