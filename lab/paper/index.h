// SPDX-License-Identifier: BSD-3-Clause
// The papers' experiments as data: runs, metrics to read from them, claims to check.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/load.h"

namespace turnpike::lab {

/// A file of configs/ with settings, played once per seed. If `scheme` is set, all links that have
/// a law and all traffic run that scheme instead. If `count` is set, the summary contains the
/// operations that this law executes per packet (operations.py).
struct RunSpec {
  std::string name;
  std::string file;
  std::string scheme = {};
  std::string count = {};
  std::vector<config::Setting> settings = {};
  std::vector<config::Setting> mistake = {};  // more settings, which make it wrong; see mutants.h
  std::vector<uint64_t> seeds = {1};
};

inline constexpr double kOpenEnd = std::numeric_limits<double>::infinity();

/// A column of links.csv for a link, or of rates.csv for a host or a flow, over (from, to] in s.
struct SeriesSpec {
  enum class Kind : uint8_t { kLink, kHost, kFlow };
  Kind kind = Kind::kLink;
  std::string name = {}, column = {};
  double from = 0, to = kOpenEnd;
  double every = 0;  // s; the mean of each interval of that length instead of samples; 0: samples
};

/// kDeviation: standard deviation. kJain: Jain's index, (sum x)^2 / (n sum x^2). kMedian, kP90,
/// kP99: the least value that this share of the values does not exceed.
enum class Take : uint8_t {
  kMean,
  kMin,
  kMax,
  kSum,
  kFirst,
  kLast,
  kDeviation,
  kJain,
  kMedian,
  kP90,
  kP99
};
enum class Over : uint8_t { kMedian, kMin, kMax };  // the seeds, then the runs

/// Numbers of the summary, combined into one. A key * in a path stands for every key there.
/// `absent`: the value of a path that the summary does not have; none: the metric is not a number.
struct FromSummary {
  std::vector<std::string> paths;
  Take take = Take::kMean;
  std::optional<double> absent = {};
};
struct FromSeries {
  SeriesSpec series;
  Take take = Take::kMean;
};
/// Time after each of the times in `after` (the longest counts) until any of the series leaves
/// target (1 +- within) for the last time, watched for `watch` s.
struct Settle {
  std::vector<SeriesSpec> series;
  std::vector<double> after;
  double watch = kOpenEnd;
  double target = 0, within = 0;
};
/// Time that a series is below a level, s.
struct Below {
  SeriesSpec series;
  double level = 0;
};
/// Completion times, s, of flows of more than `above` B and at most `most` that ended in (from, to]
/// s; of as many of them as the metric `first` says, in the order of their ends, if it is set.
struct FromCompletions {
  double above = 0, most = kOpenEnd;
  double from = 0, to = kOpenEnd;
  std::string first = {};
  Take take = Take::kMean;
};
/// A theoretical value.
struct Constant {
  double value = 0;
};
/// A figure of a JSON file of the tree, such as the results of a benchmark.
struct FromFile {
  std::string file;
  std::string at;  // path of keys
};
/// One metric divided by another.
struct Ratio {
  std::string of, to;
};

/// Metrics combined into one.
struct Combined {
  std::vector<std::string> of;
  Take take = Take::kMean;
};

/// Value of an independent simulator, ns-2.35 with its own modules, for a metric, in the unit in
/// which the metric is shown. `why` explains a difference from our value.
struct Reference {
  double value = 0;
  std::string why = {};
};

struct MetricSpec {
  std::string name = {};
  std::vector<std::string> runs = {};  // the first run unless set
  std::string unit = {};               // "%": a ratio, shown in per cent
  Over over = Over::kMedian;
  std::optional<Reference> reference = {};
  std::variant<FromSummary, FromSeries, FromCompletions, Settle, Below, Constant, FromFile, Ratio,
               Combined>
      source = Constant{};
};

/// A bound on a metric, in the unit in which the metric is shown.
struct CheckSpec {
  enum class Kind : uint8_t { kAtLeast, kAtMost, kWithin, kNear, kAbove, kBelow };
  std::string metric = {};
  Kind kind = Kind::kAtLeast;
  double a = 0, b = 0;     // the bound; the two bounds; the value and the relative distance
  std::string other = {};  // metric of kAbove and kBelow
  std::string paper = {};  // the paper's value, from which the bound is derived
  std::string model = {};  // value of an independent model of the paper
  std::string wider = {};  // says why the bound admits more than the paper's value
  std::string why = {};    // explains a check that is not met
};

/// A statement of the paper. It is met if all its checks are.
struct ClaimSpec {
  std::string id = {};
  std::string says = {};  // the statement, paraphrased
  std::string at = {};    // its place: section, figure, table
  std::vector<CheckSpec> checks = {};
};

/// A line of a chart.
struct LineSpec {
  struct Samples {
    std::string run;
    SeriesSpec series;
  };
  /// Mean completion time by size of flow, over all seeds.
  struct BySize {
    std::string run;
  };
  /// Share of the flows that completed within a time, over all seeds.
  struct Distribution {
    std::string run;
  };
  /// Mean completion time of the flows that ended in each interval of `every` s, over all seeds.
  struct ByTime {
    std::string run;
    double every = 1;
  };
  struct Points {
    std::vector<double> x, y;
  };
  /// A metric of several runs, a point for each.
  struct Sweep {
    std::string metric;
    std::vector<double> x;  // by run of the metric
  };
  /// A level over the whole width.
  struct Level {
    double y = 0;
  };
  /// One point, from two metrics.
  struct Mark {
    std::string x, y;
  };
  std::string name = {};
  double scale = 1;  // of y
  bool dashed = false;
  std::variant<Samples, BySize, Distribution, ByTime, Points, Sweep, Level, Mark> source = Level{};
};

struct ChartSpec {
  std::string title = {};
  std::string x = "time (s)", y = {};
  bool log_x = false, log_y = false, half = false;
  double from = 0, to = kOpenEnd;          // of x
  double low = kOpenEnd, high = kOpenEnd;  // of y; kOpenEnd: the range of the data
  std::vector<LineSpec> lines = {};
};

struct Experiment {
  std::string paper = {};  // as headings name it: "FCP"
  std::string id, figure, title, about = {};
  bool is_short = false;  // part of the quick selection
  std::vector<RunSpec> runs = {};
  std::vector<MetricSpec> metrics = {};
  std::vector<ClaimSpec> claims = {};
  std::vector<CheckSpec> own = {};  // checks that the paper does not state
  std::vector<ChartSpec> charts = {};
};

/// A file of the index, and its name in messages about mistakes.
struct IndexText {
  std::string name, text;
};

/// Reads every .yaml file of `folder`, one per paper, in the order of their names, FCP's first.
/// Resolves paths in them from `root`. Every mistake has its file, line and column.
tl::expected<std::vector<Experiment>, std::vector<config::Mistake>> read_index(
    const std::string& folder, const std::string& root);
/// Experiments in the order of the texts. An experiment's id, and a claim's, must be unique among
/// all of them.
tl::expected<std::vector<Experiment>, std::vector<config::Mistake>> parse_index(
    const std::vector<IndexText>& texts, const std::string& root);

}  // namespace turnpike::lab
