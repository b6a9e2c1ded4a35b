// SPDX-License-Identifier: BSD-3-Clause
// Metrics as text: Prometheus' exposition format 0.0.4, or OpenMetrics 1.0.
//
// Example:
//
//     Histogram waits;
//     waits.record(1'200'000);  // ns
//     PrometheusText page(TextFormat::kOpenMetrics);
//     page.family({"packets", MetricType::kCounter, "", "Packets forwarded."});
//     page.sample({{"link", "bottleneck"}}, uint64_t{1});  // packets_total{link="bottleneck"} 1
//     page.family({"wait_seconds", MetricType::kHistogram, "seconds", "Time in the queue."});
//     constexpr double kBounds[] = {1e-3, 1e-2};
//     page.observations({{"link", "bottleneck"}}, waits, kBounds, 1e-9);
//     const std::string text = page.finish();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "common/metrics/histogram.h"
#include "common/metrics/log_histogram.h"

namespace turnpike::metrics {

struct Label {
  std::string_view name;
  std::string_view value;  // any text; escaped when written
};
using Labels = std::initializer_list<Label>;

enum class MetricType : uint8_t {
  kCounter,
  kGauge,
  kHistogram,
  kInfo,  // labels that describe the process; the sample's value is 1
};

/// A metric family. By Prometheus' convention every name ends in its unit, a base unit in the
/// plural (seconds, bytes).
struct Family {
  std::string_view name;  // without _total of counters and _info of infos
  MetricType type = MetricType::kGauge;
  std::string_view unit;  // at the end of `name`; empty: a plain number
  std::string_view help;

  /// The name of its samples: with _total or _info. Of a histogram: without _bucket, _sum, _count.
  [[nodiscard]] std::string sample_name() const;
};

/// "counter", "gauge", "histogram" or "info".
std::string_view name_of(MetricType type);

enum class TextFormat : uint8_t { kPrometheus, kOpenMetrics };

/// The value of HTTP's Content-Type.
std::string_view content_type(TextFormat format);

/// The format that a value of HTTP's Accept prefers: the one with the higher weight (q), Prometheus
/// if they are equal or the header is empty. Accepts any text.
TextFormat accepted_format(std::string_view accept);

/// Writes one page of metrics. Announce each family once by family(), then add its samples by
/// sample(), or observations() for a histogram. Invalid characters of names become '_'.
class PrometheusText {
 public:
  explicit PrometheusText(TextFormat format = TextFormat::kPrometheus) : format_(format) {}

  void family(const Family& family);

  /// Adds a sample to the current family.
  void sample(Labels labels, uint64_t value);
  void sample(Labels labels, double value);

  /// One labelled histogram: cumulative counts up to each of the ascending `bounds`, sum and count.
  /// `unit`: of the histogram's values in the metric's unit, such as 1e-9 for ns in a metric of
  /// seconds. Bounds are in the metric's unit. The count at a bound is exact to a bucket of the
  /// histogram (1.6 % of the bound). In both formats whole bounds are written as "1.0".
  void observations(Labels labels, const Histogram& h, std::span<const double> bounds, double unit);

  /// The same for a histogram with octaves; its `least` x 2^first and the powers after that are the
  /// bounds, exactly. `per`: of the histogram's units, how many make the metric's: 1e9 for ns.
  void octaves(Labels labels, const LogHistogram::Values& h, unsigned first, double per);

  /// The complete page. Call once, last.
  std::string finish();

 private:
  void line(std::string_view suffix, Labels labels, std::string_view bound, std::string_view value);

  TextFormat format_;
  std::string name_;  // of the current family's samples
  std::string text_;
};

}  // namespace turnpike::metrics
