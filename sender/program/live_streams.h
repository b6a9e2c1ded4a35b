// SPDX-License-Identifier: BSD-3-Clause
// Rates and losses of streams while they run, from the lcores' counters.
#pragma once

#include <span>
#include <vector>

#include "common/config/topology.h"
#include "common/report/live_view.h"
#include "sender/sender.h"

namespace turnpike::sender {

/// Runs on the control thread while the lcores run: it reads only their counters.
class LiveStreams {
 public:
  explicit LiveStreams(const config::Topology& topology);

  /// One entry per stream from or to a host of these senders. Rates are averages since the last
  /// call; the first call at time 0 returns no entries.
  std::vector<report::LiveStream> take(std::span<Sender* const> senders, Nanos now);

 private:
  struct Counts {
    bool ours = false;  // these senders run at least one end
    uint64_t sent = 0, unsent = 0;
    uint64_t received = 0, missing = 0, reordered = 0;
  };
  static std::vector<Counts> read(std::span<Sender* const> senders, size_t streams);

  const config::Topology& topology_;
  std::vector<Counts> last_;  // by index into Topology::streams
  Nanos then_{0};             // time of the last call
};

}  // namespace turnpike::sender
