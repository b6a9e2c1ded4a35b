// SPDX-License-Identifier: BSD-3-Clause
// Metrics as text in Prometheus' exposition format 0.0.4.
//
// Example:
//
//     Histogram waits;
//     waits.record(1'200'000);  // ns
//     PrometheusText page;
//     page.counter("packets_total", "Packets forwarded.");
//     page.sample({{"link", "bottleneck"}}, uint64_t{1});
//     page.histogram("wait_seconds", "Time in the queue.");
//     constexpr double kBounds[] = {1e-3, 1e-2};
//     page.observations({{"link", "bottleneck"}}, waits, kBounds, 1e-9);
//     const std::string& text = page.text();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "common/metrics/histogram.h"

namespace turnpike::metrics {

struct Label {
  std::string_view name;
  std::string_view value;  // any text; escaped when written
};
using Labels = std::initializer_list<Label>;

/// Writes one page of metrics. Announce each family once, by one of the three functions below, then
/// add its samples by sample(), or observations() for a histogram. Invalid characters of names
/// become '_'.
class PrometheusText {
 public:
  /// By Prometheus' convention a counter's name ends in _total and every name includes its unit.
  void counter(std::string_view name, std::string_view help) { family(name, help, "counter"); }
  void gauge(std::string_view name, std::string_view help) { family(name, help, "gauge"); }
  void histogram(std::string_view name, std::string_view help) { family(name, help, "histogram"); }

  /// Adds a sample to the current family.
  void sample(Labels labels, uint64_t value);
  void sample(Labels labels, double value);

  /// One labelled histogram: cumulative counts up to each of the ascending `bounds`, sum and count.
  /// `unit`: of the histogram's values in the metric's unit, such as 1e-9 for ns in a metric of
  /// seconds. Bounds are in the metric's unit. The count at a bound is exact to a bucket of the
  /// histogram (1.6 % of the bound).
  void observations(Labels labels, const Histogram& h, std::span<const double> bounds, double unit);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void family(std::string_view name, std::string_view help, std::string_view type);
  void line(std::string_view suffix, Labels labels, std::string_view bound, std::string_view value);

  std::string name_;  // of the current family
  std::string text_;
};

}  // namespace turnpike::metrics
