// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/run_data.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "common/report/csv.h"
#include "common/units/units.h"

namespace turnpike::report {
namespace {

/// Series in the order in which their names came.
template <class T>
class ByName {
 public:
  /// The series of that name, added if it is new. `name` must outlive the object.
  T& of(std::string_view name) {
    const auto [known, fresh] = places_.emplace(name, all_.size());
    if (fresh) all_.emplace_back().name = name;
    return all_[known->second];
  }
  std::vector<T> take() { return std::move(all_); }

 private:
  std::vector<T> all_;
  std::unordered_map<std::string_view, size_t> places_;
};

std::vector<HostSeries> host_series(const std::string& text) {
  const Csv csv = Csv::parse(text);
  const auto flow = csv.column("flow"), host = csv.column("host"), t = csv.column("t"),
             rate = csv.column("rate_mbps"), price = csv.column("price"),
             rtt = csv.column("rtt_ms"), queueing = csv.column("queueing_ms");
  ByName<HostSeries> all;
  for (size_t row = 0; row < csv.rows(); ++row) {
    if (!csv.text(row, flow).empty() || csv.text(row, host).empty()) continue;
    HostSeries& s = all.of(csv.text(row, host));
    s.t.push_back(csv.number(row, t));
    s.rate.push_back(csv.number(row, rate));
    s.price.push_back(csv.number(row, price));
    s.rtt.push_back(csv.number(row, rtt));
    s.queueing.push_back(csv.number(row, queueing));
  }
  return all.take();
}

std::vector<LinkSeries> link_series_of(const Csv& csv, const RunSpan& run) {
  const auto link = csv.column("link"), unix_s = csv.column("unix_s"), t = csv.column("t"),
             price = csv.column("price"), queue_bytes = csv.column("queue_bytes"),
             queue_delay = csv.column("queue_delay_ms"), utilization = csv.column("utilization"),
             drops = csv.column("drops");
  ByName<LinkSeries> all;
  for (size_t row = 0; row < csv.rows(); ++row) {
    if (csv.text(row, link).empty()) continue;
    const double since_start = csv.number(row, unix_s) - run.unix_s;  // NaN where unknown
    if (since_start < 0 || since_start > run.duration_s) continue;
    LinkSeries& s = all.of(csv.text(row, link));
    s.t.push_back(std::isnan(since_start) ? csv.number(row, t) : since_start);
    s.price.push_back(csv.number(row, price));
    s.queue_bytes.push_back(csv.number(row, queue_bytes));
    s.queue_delay.push_back(csv.number(row, queue_delay));
    s.utilization.push_back(csv.number(row, utilization));
    s.drops.push_back(csv.number(row, drops));
  }
  return all.take();
}

std::vector<double> finite(const std::vector<double>& values) {
  std::vector<double> kept;
  std::copy_if(values.begin(), values.end(), std::back_inserter(kept),
               [](double v) { return std::isfinite(v); });
  return kept;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

/// The smallest value that a share `share` of the values do not exceed; `values` is sorted.
double quantile(const std::vector<double>& values, double share) {
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<size_t>(std::max(1., rank)) - 1];
}

}  // namespace

std::vector<LinkSeries> link_series(const std::string& text, const RunSpan& run) {
  return link_series_of(Csv::parse(text), run);
}

nlohmann::json summarise(const LinkSeries& link) {
  nlohmann::json out = nlohmann::json::object();
  if (const auto v = finite(link.utilization); !v.empty()) out["utilization"] = mean(v);
  if (auto v = finite(link.queue_delay); !v.empty()) {
    std::sort(v.begin(), v.end());
    out["queue_delay_ms"] = {
        {"mean", mean(v)}, {"p50", quantile(v, .5)}, {"p99", quantile(v, .99)}, {"max", v.back()}};
  }
  if (const auto v = finite(link.queue_bytes); !v.empty())
    out["queue_bytes"] = {{"mean", mean(v)}, {"max", *std::max_element(v.begin(), v.end())}};
  if (auto v = finite(link.price); !v.empty()) {
    for (double& p : v)
      if (p <= kMinPrice.count()) p = 0;
    out["price"] = {{"mean", mean(v)}, {"last", v.back()}};
  }
  if (const auto v = finite(link.drops); !v.empty())
    out["dropped_packets"] = *std::max_element(v.begin(), v.end());
  return out;
}

void add_links(RunData& run) {
  double dropped = 0;
  nlohmann::json& links = run.summary["links"];
  if (!links.is_object()) links = nlohmann::json::object();
  for (const LinkSeries& series : run.links) {
    nlohmann::json& link = links[series.name];
    if (!link.is_object()) link = nlohmann::json::object();
    const nlohmann::json figures = summarise(series);
    for (const auto& [key, figure] : figures.items())
      if (!link.contains(key)) link[key] = figure;  // the summary's own counts take precedence
    if (const double n = number_at(link, {"dropped_packets"}); n > 0) dropped += n;
  }
  if (run.links.empty()) return;
  nlohmann::json& verdict = run.summary["verdict"];
  if (verdict.is_object()) verdict["dropped_packets"] = dropped;
}

tl::expected<RunData, std::string> read_run(const std::string& folder, const Threads& threads) {
  tl::expected<nlohmann::json, std::string> summary;
  RunData run;
  std::optional<Csv> links;
  const std::array<std::function<void()>, 3> parts{
      [&] { summary = read_json(folder + "/summary.json"); },
      [&] {
        if (const auto text = read_text(folder + "/links.csv")) links = Csv::parse(*text);
      },
      [&] {
        if (const auto text = read_text(folder + "/rates.csv")) run.hosts = host_series(*text);
      }};
  threads.for_each(parts.size(), [&](size_t i) { parts[i](); });
  if (!summary) return tl::unexpected(summary.error());
  run.summary = std::move(*summary);
  if (links)
    run.links = link_series_of(*links, {.unix_s = number_at(run.summary, {"unix_s"}),
                                        .duration_s = number_at(run.summary, {"duration_s"})});
  return run;
}

tl::expected<std::string, std::string> read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  for (char block[1 << 16]; in.read(block, sizeof block) || in.gcount() > 0;)
    text.append(block, static_cast<size_t>(in.gcount()));
  if (!in.is_open() || in.bad()) return tl::unexpected(path + ": " + std::strerror(errno));
  return text;
}

tl::expected<nlohmann::json, std::string> read_json(const std::string& path) {
  return read_text(path).and_then(
      [&](const std::string& text) -> tl::expected<nlohmann::json, std::string> {
        auto object = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
        if (!object.is_object()) return tl::unexpected(path + ": not a JSON object");
        return object;
      });
}

double number_or_zero(const nlohmann::json& tree, std::initializer_list<const char*> keys) {
  const double v = number_at(tree, keys);
  return std::isfinite(v) ? v : 0;
}

double number_at(const nlohmann::json& tree, std::initializer_list<const char*> keys) {
  const nlohmann::json* at = &tree;
  for (const char* key : keys) {
    if (!at->is_object() || !at->contains(key)) return std::numeric_limits<double>::quiet_NaN();
    at = &(*at)[key];
  }
  return at->is_number() ? at->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace turnpike::report
