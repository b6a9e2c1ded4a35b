// SPDX-License-Identifier: BSD-3-Clause
// The page of a sweep: a chart per metric, and the table.
#include "common/report/page.h"

#include <algorithm>

#include "common/report/chart.h"
#include "common/report/number.h"
#include "lab/batch/case.h"
#include "lab/sweep/sweep.h"

namespace turnpike::lab {
namespace {

using report::Cell;
using report::Chart;

/// The axis along x: the first that has several values, or the first at all.
size_t main_axis(const Sweep& sweep) {
  for (size_t i = 0; i < sweep.axes.size(); ++i)
    if (sweep.axes[i].values.size() > 1) return i;
  return 0;
}

Chart metric_chart(const Sweep& sweep, const std::string& metric) {
  Chart chart{.title = metric};
  chart.y.label = metric;
  const size_t main = main_axis(sweep);
  if (!sweep.axes.empty()) {
    chart.x.label = sweep.axes[main].path;
    chart.x.categories = sweep.axes[main].values;
  } else {
    chart.x.categories = {sweep.file};
  }
  for (const Combination& c : sweep.combinations) {
    // Each combination of the other axes' values is a line of its own.
    std::vector<config::Setting> others;
    size_t x = 0;
    for (size_t i = 0; i < c.settings.size(); ++i) {
      const auto& values = sweep.axes[i].values;
      if (i == main)
        x = static_cast<size_t>(std::ranges::find(values, c.settings[i].value) - values.begin());
      else if (values.size() > 1)
        others.push_back(c.settings[i]);
    }
    const std::string name = settings_text(others);
    auto line = std::ranges::find(chart.series, name, &report::Series::name);
    if (line == chart.series.end()) {
      chart.series.push_back({.name = name,
                              .colour = static_cast<int>(chart.series.size()),
                              .marks = report::Series::Marks::kBoth});
      line = chart.series.end() - 1;
    }
    const Statistics s = statistics(values_of(c, metric));
    line->x.push_back(static_cast<double>(x));
    line->y.push_back(s.median);
    line->low.push_back(s.min);
    line->high.push_back(s.max);
  }
  // Shifts the lines along x, so that their bars do not hide each other.
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const double middle = static_cast<double>(chart.series.size() - 1) / 2;
    for (double& x : chart.series[i].x) x += 0.06 * (static_cast<double>(i) - middle);
  }
  return chart;
}

report::HtmlTable table(const Sweep& sweep) {
  report::HtmlTable t{.caption = "Median, least and greatest over the seeds."};
  for (const Axis& axis : sweep.axes) t.columns.push_back(axis.path);
  t.columns.insert(t.columns.end(), {"metric", "median", "min", "max", "seeds"});
  for (const Combination& c : sweep.combinations)
    for (const std::string& metric : sweep.metrics) {
      auto& row = t.rows.emplace_back();
      for (const config::Setting& setting : c.settings) row.emplace_back(setting.value);
      const Statistics s = statistics(values_of(c, metric));
      row.emplace_back(metric);
      for (const double v : {s.median, s.min, s.max})
        row.push_back(report::number(report::significant(v)));
      row.push_back(report::number(std::to_string(s.count)));
    }
  return t;
}

}  // namespace

std::string sweep_page(const Sweep& sweep) {
  report::Page page("Sweep of " + sweep.file);
  page.paragraph(std::to_string(sweep.combinations.size()) + " combinations of settings, " +
                 std::to_string(sweep.seeds.size()) + " seeds each.");
  for (const std::string& metric : sweep.metrics) {
    Chart chart = metric_chart(sweep, metric);
    page.figure(report::svg(chart), metric + ": median, and the range over the seeds.");
  }
  page.heading("Values");
  page.table(table(sweep));
  page.data("sweep", sweep_json(sweep).dump());
  return page.html();
}

}  // namespace turnpike::lab
