// SPDX-License-Identifier: BSD-3-Clause
#include "lab/throughput/measure.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "lab/throughput/search.h"
#include "lab/throughput/trial_topology.h"

namespace turnpike::lab {
namespace {

constexpr std::array kLatencyParts{0.1, 0.5, 0.9, 0.99};
constexpr double kCalibration = 0.05;  // resolution of the generator's own limit
constexpr double kNearGenerator = 0.95;
constexpr double kNone = -1;  // a goal that no loss meets

/// Plays trials on one network.
class Bench {
 public:
  Bench(const config::Topology& topology, const MeasureOptions& options, TrialRunner& runner,
        const OnTrial& on_trial, bool loopback)
      : topology_(topology),
        options_(options),
        runner_(runner),
        on_trial_(on_trial),
        loopback_(loopback) {}

  /// Repeats a trial that was invalid and failed. `goal`: the loss with which it passes; kNone if
  /// the trial has no bound on loss.
  tl::expected<Trial, std::string> play(const std::string& what, double share, double goal) {
    for (unsigned i = 1;; ++i) {
      auto played = runner_.play(at_share(topology_, share, options_.trial));
      if (!played) return tl::unexpected(what + ": " + played.error());
      trials_.push_back(evaluate(share, played->summary, played->routers, loopback_));
      const Trial& t = trials_.back();
      on_trial_(what, t);
      if (t.faults.empty() || t.loss <= goal || i >= options_.attempts) return t;
    }
  }

  tl::expected<Found, std::string> search(const std::string& what, double goal, double top,
                                          double resolution) {
    return find_rate(goal, top, resolution, known_, [&](double share) {
      return play(what, share, goal).map([](const Trial& t) {
        return Point{t.share, t.loss, t.faults.empty()};
      });
    });
  }

  /// The trial at the rate that a search found, which passed its goal.
  [[nodiscard]] std::optional<Trial> at(double share, double goal) const {
    for (const Trial& t : trials_)
      if (t.share == share && t.loss <= goal) return t;
    return {};
  }
  [[nodiscard]] const std::vector<Trial>& trials() const { return trials_; }

 private:
  const config::Topology& topology_;
  const MeasureOptions& options_;
  TrialRunner& runner_;
  const OnTrial& on_trial_;
  bool loopback_;
  std::vector<Trial> trials_;
  std::vector<Point> known_;
};

using Done = tl::expected<void, std::string>;

Done calibrate(std::optional<Bench>& loop, double goal, Measurement& out) {
  const auto found = loop->search("loopback", goal, 1, kCalibration);
  if (!found) return tl::unexpected(found.error());
  out.generator = loop->at(found->share, goal);
  if (!out.generator)
    return tl::unexpected(std::string("the generator loses packets to itself at every rate"));
  return {};
}

Done measure_latency(Bench& device, std::optional<Bench>& loop, double share, Measurement& out) {
  for (const double part : kLatencyParts) {
    auto trial = device.play("latency", part * share, kNone);
    if (!trial) return tl::unexpected(trial.error());
    LatencyResult result{part, std::move(*trial), {}};
    if (loop) {
      auto own = loop->play("loopback", part * share, kNone);
      if (!own) return tl::unexpected(own.error());
      result.loopback = std::move(*own);
    }
    out.latencies.push_back(std::move(result));
  }
  return {};
}

}  // namespace

tl::expected<Measurement, std::string> measure(const config::Topology& topology,
                                               const MeasureOptions& options, TrialRunner& runner,
                                               const OnTrial& on_trial) {
  Measurement out;
  std::optional<Bench> loop;
  config::Topology loop_topology;
  double top = 1;
  if (options.calibrate) {
    if (auto made = loopback(topology, options.sockets)) {
      loop_topology = std::move(*made);
      loop.emplace(loop_topology, options, runner, on_trial, true);
      // The loopback must meet the strictest goal: its own losses cannot be distinguished from the
      // device's.
      const double strictest = *std::ranges::min_element(options.goals);
      if (auto done = calibrate(loop, strictest, out); !done) return tl::unexpected(done.error());
      top = out.generator->share;
    } else {
      out.uncalibrated = made.error();
    }
  }
  Bench device(topology, options, runner, on_trial, false);
  double lossless = 0;
  for (const double goal : options.goals) {
    const auto found = device.search("device", goal, top, options.resolution);
    if (!found) return tl::unexpected(found.error());
    GoalResult result{.goal = goal, .best = device.at(found->share, goal)};
    result.generator = found->limited || (top < 1 && found->share >= kNearGenerator * top);
    if (result.best && (lossless == 0 || goal == 0)) lossless = found->share;
    out.goals.push_back(std::move(result));
  }
  if (options.latency && lossless > 0)
    if (auto done = measure_latency(device, loop, lossless, out); !done)
      return tl::unexpected(done.error());
  out.trials = device.trials();
  return out;
}

}  // namespace turnpike::lab
