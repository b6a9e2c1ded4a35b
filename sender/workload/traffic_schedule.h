// SPDX-License-Identifier: BSD-3-Clause
// Everything that a topology's traffic asks of some hosts, in order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "sender/workload/stream.h"

namespace turnpike::sender {

/// A flow to start, or to stop; or a host's budget from now on.
struct Event {
  enum class What : uint8_t { kBudget, kStart, kStop };
  Nanos at{0};
  What what = What::kStart;
  uint32_t source = 0;    // index into Topology::flows, or flows.size() + workload index
  uint32_t instance = 0;  // which of the flows that the file names: kStop ends the same instance
  uint32_t from = 0, to = 0;
  uint64_t bytes = 0;  // payload, config::kEndless
  Budget budget{0};    // kBudget: of host `from`
};

/// The flows from the hosts that `plays` accepts: those named in the file, and the workloads'; and
/// how these hosts' budgets change.
class TrafficSchedule {
 public:
  static tl::expected<TrafficSchedule, std::string> make(
      const config::Topology& topology, uint64_t seed,
      const std::function<bool(uint32_t host)>& plays, const Traces& traces = {});

  /// While held, starts are left out: what comes next is a budget or a stop. Starts then follow in
  /// their order, after their time.
  void hold_starts(bool held) {
    held_ = held;
    find_next();
  }
  [[nodiscard]] bool starts_held() const { return held_; }

  /// When the next event is due; kNever when there is none.
  [[nodiscard]] Nanos next_time() const { return next_.at; }
  /// What it is, if there is one.
  [[nodiscard]] const Event& next() const { return next_; }
  /// Goes on to the one after it. Simultaneous events come in the file's order: budgets, starts,
  /// stops.
  void pop();

  /// How many flows of Topology::flows are ours, `count` counted: instances are below it.
  [[nodiscard]] uint32_t instances() const { return instances_; }

 private:
  struct Source {
    uint32_t index;
    Stream stream;
    std::optional<Arrival> next;
  };

  // Events that the file names, in order of time.
  struct Named {
    std::vector<Event> events;
    size_t position = 0;
    [[nodiscard]] const Event* next() const {
      return position < events.size() ? &events[position] : nullptr;
    }
  };

  void advance(Source& source);
  void find_next();

  std::vector<bool> plays_;  // by host
  Named starts_, controls_;  // controls: stops and budgets
  std::vector<Source> workloads_;
  uint32_t instances_ = 0;
  bool held_ = false;
  Event next_{.at = kNever};
  Named TrafficSchedule::*next_named_ = nullptr;  // which of them has it; null: a workload
  Source* next_source_ = nullptr;                 // whose arrival it is
};

}  // namespace turnpike::sender
