// SPDX-License-Identifier: BSD-3-Clause
// The flows of all workloads, drawn once for many schedules of one host each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "sender/workload/stream.h"

namespace turnpike::sender {

/// Each schedule would otherwise draw the flows of all hosts to find its own. Flows that were drawn
/// and not yet asked for wait, in order: a host's next one is as many ahead as there are hosts, on
/// average. One thread makes all calls.
class SharedArrivals {
 public:
  /// `hosts`: those that will ask; flows from others are left out. The topology must outlive it.
  static tl::expected<SharedArrivals, std::string> make(const config::Topology& topology,
                                                        uint64_t seed,
                                                        const std::vector<uint32_t>& hosts,
                                                        const Traces& traces);

  /// The host's next flow of Topology::workloads[workload]; std::nullopt after the last.
  [[nodiscard]] std::optional<Arrival> next(size_t workload, uint32_t host);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Waiting {
    Arrival arrival;
    uint32_t next = kNone;
  };
  struct List {
    uint32_t first = kNone, last = kNone;  // indices into waiting_
    bool has_flows = false;                // the host is a source of the workload
  };
  struct Source {
    std::optional<Stream> stream;  // none: no host here has flows of the workload
    std::vector<List> lists;       // by position of the host
  };

  void put(List& list, const Arrival& arrival);
  [[nodiscard]] Arrival take(List& list);

  std::vector<uint32_t> position_;  // by host; kNone: it does not ask
  std::vector<Source> sources_;     // by workload
  std::vector<Waiting> waiting_;
  uint32_t free_ = kNone;  // list of unused entries
};

}  // namespace turnpike::sender
