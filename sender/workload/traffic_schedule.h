// SPDX-License-Identifier: BSD-3-Clause
// Merges the starts, stops and budget changes of some hosts in order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "sender/workload/shared_arrivals.h"
#include "sender/workload/stream.h"

namespace turnpike::sender {

/// The start or stop of a flow, or a change of a host's budget.
struct Event {
  enum class What : uint8_t { kBudget, kStart, kStop };
  Nanos at{0};
  What what = What::kStart;
  uint32_t source = 0;    // index into Topology::flows, or flows.size() + workload index
  uint32_t instance = 0;  // number of a flow that the file names; the same at kStart and kStop
  uint32_t from = 0;
  uint32_t to = 0;     // Topology::destination_of() the flow
  uint64_t bytes = 0;  // payload; may be config::kEndless
  Budget budget{0};    // kBudget: of host `from`
};

/// The flows from hosts that `plays` accepts, both those that the file names and those of
/// workloads, and the budget changes of these hosts.
class TrafficSchedule {
 public:
  static tl::expected<TrafficSchedule, std::string> make(
      const config::Topology& topology, uint64_t seed,
      const std::function<bool(uint32_t host)>& plays, const Traces& traces = {});
  /// The same of one host. `arrivals`: of all workloads, outlives the schedule.
  static TrafficSchedule make(const config::Topology& topology, uint32_t host,
                              SharedArrivals& arrivals);

  /// While held, next() returns budget changes and stops only. Held starts follow later, in order.
  void hold_starts(bool held) {
    held_ = held;
    find_next();
  }
  [[nodiscard]] bool starts_held() const { return held_; }

  /// Time of the next event; kNever: there is none.
  [[nodiscard]] Nanos next_time() const { return next_.at; }
  /// The next event; valid if next_time() is not kNever.
  [[nodiscard]] const Event& next() const { return next_; }
  /// Removes the next event. Simultaneous events come as budgets, starts, stops, each in the order
  /// of the file.
  void pop();

  /// Number of flows that the file names from accepted hosts, each `count` times. Instance numbers
  /// are below it.
  [[nodiscard]] uint32_t instances() const { return instances_; }

 private:
  struct Source {
    uint32_t index;
    std::optional<Stream> stream;  // none: of `shared_`
    std::optional<Arrival> next;
  };

  // Events that the topology file names, in order of time.
  struct Named {
    std::vector<Event> events;
    size_t position = 0;
    [[nodiscard]] const Event* next() const {
      return position < events.size() ? &events[position] : nullptr;
    }
  };

  void add_changes(const config::Topology& topology, uint32_t host);
  void add_flows(const config::Topology& topology, const auto& plays);
  void advance(Source& source);
  void find_next();

  std::vector<bool> plays_;  // by host; unused with `shared_`
  SharedArrivals* shared_ = nullptr;
  uint32_t host_ = 0;        // whose flows `shared_` gives
  uint32_t flows_ = 0;       // of the topology
  Named starts_, controls_;  // controls: stops and budgets
  std::vector<Source> workloads_;
  uint32_t instances_ = 0;
  bool held_ = false;
  Event next_{.at = kNever};
  Named TrafficSchedule::*next_named_ = nullptr;  // list of the next event; null: a workload's
  Source* next_source_ = nullptr;                 // workload of the next event; null: a list's
};

}  // namespace turnpike::sender
