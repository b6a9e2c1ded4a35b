// SPDX-License-Identifier: BSD-3-Clause
// The recorded workloads of a topology.
#pragma once

#include <memory>
#include <vector>

#include "common/config/topology.h"
#include "common/config/trace.h"
#include "common/units/units.h"

namespace turnpike::sender {

using config::TraceEntry;

/// Most arrivals in any span of that length. Entries in order of time, as they are read.
size_t max_arrivals(const std::vector<TraceEntry>& trace, Nanos span);

/// The traces of a topology's workloads, each file read once and shared.
class Traces {
 public:
  using Shared = std::shared_ptr<const std::vector<TraceEntry>>;

  /// Without any.
  Traces() = default;
  /// Reads them. One that cannot be read is left out; Stream::make() says why when it needs it.
  explicit Traces(const config::Topology& topology);

  /// Of an entry of Topology::workloads; null where it has none.
  [[nodiscard]] Shared of(size_t workload) const {
    return workload < by_workload_.size() ? by_workload_[workload] : nullptr;
  }

 private:
  std::vector<Shared> by_workload_;
};

}  // namespace turnpike::sender
