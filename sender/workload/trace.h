// SPDX-License-Identifier: BSD-3-Clause
// A recorded workload: when flows arrived and how large they were.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/units/units.h"

namespace turnpike::sender {

struct TraceEntry {
  Nanos at{0};  // since the workload's start, never before the entry above it
  uint64_t bytes = 0;
};

/// Reads lines "time_s,bytes"; a first line that is a heading, blank lines and lines that begin
/// with # are skipped. The error names file and line.
tl::expected<std::vector<TraceEntry>, std::string> load_trace(const std::string& path);
tl::expected<std::vector<TraceEntry>, std::string> parse_trace(const std::string& text,
                                                               const std::string& name);

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
