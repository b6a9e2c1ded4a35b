// SPDX-License-Identifier: BSD-3-Clause
// Reads the recorded workloads of a topology.
#pragma once

#include <memory>
#include <vector>

#include "common/config/topology.h"
#include "common/config/trace.h"
#include "common/parallel/threads.h"
#include "common/units/units.h"

namespace turnpike::sender {

using config::TraceEntry;

/// Greatest number of arrivals in any span of that length. `trace`: in order of time.
size_t max_arrivals(const std::vector<TraceEntry>& trace, Nanos span);

/// The traces of a topology's workloads, each file read once and shared.
class Traces {
 public:
  using Shared = std::shared_ptr<const std::vector<TraceEntry>>;

  /// No traces.
  Traces() = default;
  /// Reads all traces. Omits those that cannot be read; Stream::make() then reports the reason.
  explicit Traces(const config::Topology& topology, const Threads& threads = Threads());

  /// The trace of an entry of Topology::workloads; null: none.
  [[nodiscard]] Shared of(size_t workload) const {
    return workload < by_workload_.size() ? by_workload_[workload] : nullptr;
  }

 private:
  std::vector<Shared> by_workload_;
};

}  // namespace turnpike::sender
