// SPDX-License-Identifier: BSD-3-Clause
// What streams do while they run, from their lcores' counters.
#pragma once

#include <span>
#include <vector>

#include "common/config/topology.h"
#include "common/report/live_view.h"
#include "sender/sender.h"

namespace turnpike::sender {

/// Reads counters and nothing else of the lcores', so it may do so while they run.
class LiveStreams {
 public:
  explicit LiveStreams(const config::Topology& topology);

  /// The streams that these senders play an end of; rates since the last call, so nothing
  /// at the first.
  std::vector<report::LiveStream> take(std::span<Sender* const> senders, Nanos now);

 private:
  struct Counts {
    bool ours = false;  // one end of it at least
    uint64_t sent = 0, unsent = 0;
    uint64_t received = 0, missing = 0, reordered = 0;
  };
  static std::vector<Counts> read(std::span<Sender* const> senders, size_t streams);

  const config::Topology& topology_;
  std::vector<Counts> last_;  // Topology::streams
  Nanos then_{0};
};

}  // namespace turnpike::sender
