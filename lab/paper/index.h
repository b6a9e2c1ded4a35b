// SPDX-License-Identifier: BSD-3-Clause
// The experiments of the papers as data: what to run, what to read from it, what should come out.
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

/// A file of configs/ with settings, played once per seed. Where it names a scheme, all links that
/// have a law and all traffic run that one instead. Where it counts a law, its summary says what
/// that law executes for a packet (operations.py).
struct RunSpec {
  std::string name;
  std::string file;
  std::string scheme = {};
  std::string count = {};
  std::vector<config::Setting> settings = {};
  std::vector<uint64_t> seeds = {1};
};

inline constexpr double kOpenEnd = std::numeric_limits<double>::infinity();

/// A column of links.csv for a link, or of rates.csv for a host or a flow, over (from, to] in s.
struct SeriesSpec {
  enum class Kind : uint8_t { kLink, kHost, kFlow };
  Kind kind = Kind::kLink;
  std::string name = {}, column = {};
  double from = 0, to = kOpenEnd;
  double every = 0;  // s; means over so long instead of samples; 0: samples
};

/// kDeviation: standard deviation. kJain: Jain's index, (sum x)^2 / (n sum x^2).
enum class Take : uint8_t { kMean, kMin, kMax, kSum, kFirst, kLast, kDeviation, kJain };
enum class Over : uint8_t { kMedian, kMin, kMax };  // the seeds, then the runs

/// Numbers of the summary, made one. A key * in a path stands for every key there.
struct FromSummary {
  std::vector<std::string> paths;
  Take take = Take::kMean;
};
struct FromSeries {
  SeriesSpec series;
  Take take = Take::kMean;
};
/// How long after each of the times in `after` (the longest counts) any of the series, looked at up
/// to `watch` s later, leaves target (1 +- within) for the last time.
struct Settle {
  std::vector<SeriesSpec> series;
  std::vector<double> after;
  double watch = kOpenEnd;
  double target = 0, within = 0;
};
/// How long a series is below a level, s.
struct Below {
  SeriesSpec series;
  double level = 0;
};
/// Completion times, s, of flows of more than `above` B and at most `most` that ended in (from, to]
/// s.
struct FromCompletions {
  double above = 0, most = kOpenEnd;
  double from = 0, to = kOpenEnd;
  Take take = Take::kMean;
};
/// A figure of theory.
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

/// Metrics as they are, made one.
struct Combined {
  std::vector<std::string> of;
  Take take = Take::kMean;
};

/// What an independent simulator, ns-2.35 with its own modules, has for a metric, in the unit in
/// which that is shown; `why`: where ours is something else.
struct Reference {
  double value = 0;
  std::string why = {};
};

struct MetricSpec {
  std::string name = {};
  std::vector<std::string> runs = {};  // whose results; the first unless said
  std::string unit = {};               // "%": a ratio, shown in per cent
  Over over = Over::kMedian;
  std::optional<Reference> reference = {};
  std::variant<FromSummary, FromSeries, FromCompletions, Settle, Below, Constant, FromFile, Ratio,
               Combined>
      source = Constant{};
};

/// What a metric should be, in the unit in which it is shown.
struct ClaimSpec {
  enum class Kind : uint8_t { kAtLeast, kAtMost, kWithin, kNear, kAbove, kBelow };
  std::string metric = {};
  Kind kind = Kind::kAtLeast;
  double a = 0, b = 0;     // the bound; the two bounds; the value and the relative distance
  std::string other = {};  // metric of kAbove and kBelow
  std::string paper = {};  // what the paper has, to be shown beside
  std::string why = {};    // of a claim that is not met
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
  std::variant<Samples, BySize, Points, Sweep, Level, Mark> source = Level{};
};

struct ChartSpec {
  std::string title = {};
  std::string x = "time (s)", y = {};
  bool log_x = false, log_y = false, half = false;
  double from = 0, to = kOpenEnd;          // of x
  double low = kOpenEnd, high = kOpenEnd;  // of y; kOpenEnd: what the data need
  std::vector<LineSpec> lines = {};
};

struct Experiment {
  std::string paper = {};  // as headings name it: "FCP"
  std::string id, figure, title, about = {};
  bool is_short = false;  // part of the quick selection
  std::vector<RunSpec> runs = {};
  std::vector<MetricSpec> metrics = {};
  std::vector<ClaimSpec> claims = {};
  std::vector<ChartSpec> charts = {};
};

/// A file of the index, and the name by which mistakes in it are told.
struct IndexText {
  std::string name, text;
};

/// Reads every .yaml file of `folder`, in the order of their names: one per paper. Files in them
/// are seen from `root`. Every mistake comes with its place.
tl::expected<std::vector<Experiment>, std::vector<config::Mistake>> read_index(
    const std::string& folder, const std::string& root);
/// Experiments in the order of the texts; an id names one experiment of all.
tl::expected<std::vector<Experiment>, std::vector<config::Mistake>> parse_index(
    const std::vector<IndexText>& texts, const std::string& root);

}  // namespace turnpike::lab
