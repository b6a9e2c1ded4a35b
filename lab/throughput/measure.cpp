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
// Rates that are confirmed in longer trials, each lower by the resolution than the one before.
constexpr int kMaxConfirmed = 5;

/// Whether each stream is sent by a NIC.
bool sent_by_nics(const config::Topology& t) {
  return std::ranges::all_of(t.streams, [&](const config::Stream& s) {
    return std::holds_alternative<config::AttachPci>(t.interface_of(t.hosts[s.from]).attachment);
  });
}

/// Plays trials on one network.
class Bench {
 public:
  Bench(const config::Topology& topology, const MeasureOptions& options, TrialRunner& runner,
        const OnTrial& on_trial, bool loopback)
      : topology_(topology),
        options_(options),
        runner_(runner),
        on_trial_(on_trial),
        refusals_(loopback                 ? Refusals::kGenerator
                  : sent_by_nics(topology) ? Refusals::kNic
                                           : Refusals::kDevice) {}

  /// Repeats a trial that was invalid and failed. `goal`: the loss with which it passes; kNone if
  /// the trial has no bound on loss.
  tl::expected<Trial, std::string> play(const std::string& what, double share, double goal) {
    return play(what, share, goal, options_.trial);
  }
  tl::expected<Trial, std::string> play(const std::string& what, double share, double goal,
                                        Nanos duration) {
    for (unsigned i = 1;; ++i) {
      auto played = runner_.play(at_share(topology_, share, duration));
      if (!played) return tl::unexpected(what + ": " + played.error());
      Trial& t = trials_.emplace_back(evaluate(share, played->summary, played->routers, refusals_));
      for (const auto& [program, platform] : played->platforms)
        if (program.starts_with("router"))
          t.cycles = std::max(t.cycles, cycles_per_packet(platform));
      platforms_.push_back(std::move(played->platforms));
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
  /// Of the first trial that passed at that rate; if none did, of the last trial.
  [[nodiscard]] Platforms platforms(double share, double goal) const {
    for (size_t i = 0; i < trials_.size(); ++i)
      if (trials_[i].share == share && trials_[i].loss <= goal) return platforms_[i];
    return platforms_.empty() ? Platforms() : platforms_.back();
  }

 private:
  const config::Topology& topology_;
  const MeasureOptions& options_;
  TrialRunner& runner_;
  const OnTrial& on_trial_;
  Refusals refusals_;
  std::vector<Trial> trials_;
  std::vector<Platforms> platforms_;  // by trial
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

/// Plays a long trial at the rate found. While it loses too much, plays one at a lower rate.
Done confirm(Bench& device, const MeasureOptions& options, GoalResult& result) {
  double share = result.best->share;
  for (int i = 0; i < kMaxConfirmed; ++i, share *= 1 - options.resolution) {
    auto trial = device.play("confirm", share, result.goal, options.confirm);
    if (!trial) return tl::unexpected(trial.error());
    if (trial->loss > result.goal) continue;
    result.confirmed = std::move(*trial);
    return {};
  }
  result.unconfirmed = true;
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
  if (options.calibrate && sent_by_nics(topology)) {
    out.uncalibrated = "its ports are NICs, about which a loopback over memif says nothing";
  } else if (options.calibrate) {
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
    if (result.best && options.confirm > Nanos(0))
      if (auto done = confirm(device, options, result); !done) return tl::unexpected(done.error());
    out.goals.push_back(std::move(result));
  }
  if (options.latency && lossless > 0)
    if (auto done = measure_latency(device, loop, lossless, out); !done)
      return tl::unexpected(done.error());
  out.trials = device.trials();
  const GoalResult& first = out.goals.front();
  out.platforms = device.platforms(first.best ? first.best->share : 0, first.goal);
  return out;
}

}  // namespace turnpike::lab
