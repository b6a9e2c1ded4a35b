// SPDX-License-Identifier: BSD-3-Clause
#include "lab/sweep/sweep.h"

#include <algorithm>
#include <cmath>

#include "common/report/csv.h"
#include "common/report/number.h"
#include "common/report/run_data.h"
#include "lab/columns.h"

namespace turnpike::lab {
namespace {

using nlohmann::json;

const json& part(const json& tree, const char* key) {
  static const json nothing = json::object();
  const auto it = tree.find(key);
  return tree.is_object() && it != tree.end() && it->is_object() ? *it : nothing;
}

void add_metrics_of(const json& summary, std::vector<std::string>& out) {
  const auto add = [&](const std::string& path) {
    const bool known = std::find(out.begin(), out.end(), path) != out.end();
    if (!known && !std::isnan(value_at(summary, path))) out.push_back(path);
  };
  for (const auto& [name, link] : part(summary, "links").items()) {
    if (!link.is_object() || link.value("law", json()) == "none") continue;
    for (const char* figure : {"utilization", "loss_rate", "queue_delay_ms.mean"})
      add("links." + name + "." + figure);
  }
  add("flows.afct_s");
  add("flows.jain");
  for (const auto& [name, host] : part(summary, "hosts").items())
    if (value_at(host, "budget") > 0) add("hosts." + name + ".goodput_mbps");
}

/// NaN as null, since JSON has no NaN.
json number(double v) { return std::isfinite(v) ? json(v) : json(); }

/// A line per combination and metric; `text` makes cells of numbers.
template <class Text>
std::vector<std::vector<std::string>> rows(const Sweep& sweep, const Text& text) {
  std::vector<std::vector<std::string>> rows(1);
  for (const Axis& axis : sweep.axes) rows[0].push_back(axis.path);
  rows[0].insert(rows[0].end(), {"metric", "median", "min", "max", "seeds"});
  for (const Combination& c : sweep.combinations)
    for (const std::string& metric : sweep.metrics) {
      const Statistics s = statistics(values_of(c, metric));
      auto& row = rows.emplace_back();
      for (const config::Setting& setting : c.settings) row.push_back(setting.value);
      row.insert(row.end(),
                 {metric, text(s.median), text(s.min), text(s.max), std::to_string(s.count)});
    }
  return rows;
}

}  // namespace

json purpose_of(const Sweep& sweep) {
  json axes = json::array();
  for (const Axis& axis : sweep.axes)
    axes.push_back({{"path", axis.path}, {"values", axis.values}});
  return {{"file", sweep.file}, {"axes", axes}, {"seeds", sweep.seeds}, {"metrics", sweep.metrics}};
}

tl::expected<Sweep, std::string> sweep_of(const Plan& plan) {
  Sweep sweep;
  try {
    const json& purpose = plan.purpose();
    sweep.file = purpose.at("file");
    sweep.seeds = purpose.at("seeds").get<std::vector<uint64_t>>();
    sweep.metrics = purpose.at("metrics").get<std::vector<std::string>>();
    for (const json& axis : purpose.at("axes"))
      sweep.axes.push_back({axis.at("path"), axis.at("values").get<std::vector<std::string>>()});
    size_t task = 0;
    for (auto& settings : combinations(sweep.axes)) {
      Combination& c = sweep.combinations.emplace_back();
      c.settings = std::move(settings);
      for (size_t seed = 0; seed < sweep.seeds.size(); ++seed, ++task) {
        json& summary = c.summaries.emplace_back();
        if (task >= plan.tasks().size() || !plan.finished(task)) continue;
        const std::string path = plan.result(task) + "/summary.json";
        const auto text = report::read_text(path);
        if (!text) return tl::unexpected(text.error());
        summary = json::parse(*text, nullptr, /*allow_exceptions=*/false);
        if (!summary.is_object())
          return tl::unexpected(path + ": damaged; remove " + plan.result(task) +
                                " and the task runs again");
      }
    }
  } catch (const json::exception& e) {
    return tl::unexpected(plan.folder() + ": " + e.what());
  }
  if (sweep.metrics.empty()) sweep.metrics = default_metrics(sweep);
  return sweep;
}

std::vector<std::string> default_metrics(const Sweep& sweep) {
  std::vector<std::string> out;
  for (const Combination& c : sweep.combinations)
    for (const json& summary : c.summaries)
      if (summary.is_object()) add_metrics_of(summary, out);
  return out;
}

std::vector<double> values_of(const Combination& c, const std::string& metric) {
  std::vector<double> values;
  for (const json& summary : c.summaries) values.push_back(value_at(summary, metric));
  return values;
}

std::vector<std::string> metrics_without_values(const Sweep& sweep) {
  std::vector<std::string> out;
  for (const std::string& metric : sweep.metrics)
    if (std::ranges::all_of(sweep.combinations, [&](const Combination& c) {
          return statistics(values_of(c, metric)).count == 0;
        }))
      out.push_back(metric);
  return out;
}

std::string sweep_csv(const Sweep& sweep) {
  std::string out;
  for (const auto& row : rows(sweep, [](double v) {
         return std::isnan(v) ? std::string() : report::significant(v, 9);
       }))
    out += report::csv_line(row);
  return out;
}

json sweep_json(const Sweep& sweep) {
  json out{{"file", sweep.file}, {"seeds", sweep.seeds}, {"rows", json::array()}};
  for (const Combination& c : sweep.combinations) {
    json settings = json::object();
    for (const config::Setting& s : c.settings) settings[s.path] = s.value;
    for (const std::string& metric : sweep.metrics) {
      const auto values = values_of(c, metric);
      const Statistics s = statistics(values);
      json by_seed = json::array();
      for (const double v : values) by_seed.push_back(number(v));
      out["rows"].push_back({{"settings", settings},
                             {"metric", metric},
                             {"median", number(s.median)},
                             {"min", number(s.min)},
                             {"max", number(s.max)},
                             {"values", by_seed}});
    }
  }
  return out;
}

std::string sweep_text(const Sweep& sweep) {
  return columns(rows(sweep, [](double v) { return report::significant(v); }),
                 sweep.axes.size() + 1);
}

}  // namespace turnpike::lab
