// SPDX-License-Identifier: BSD-3-Clause
// The parts of a host that send, and what its connections and its transmission both do with them.
#pragma once

#include <cstdint>
#include <memory>

#include "common/metrics/histogram.h"
#include "sender/host/nic.h"
#include "sender/host/paths.h"
#include "sender/host/tx_buffer.h"
#include "sender/lcore_state.h"
#include "sender/recovery/acknowledge.h"
#include "sender/strategy/strategy.h"

namespace turnpike::sender {

/// Round trips and queueing delays of acknowledged packets, ns.
struct Delays {
  metrics::Histogram round_trips, queueing;
};

/// Everything referred to outlives it.
struct SourceParts {
  LcoreState& lcore;
  HostTotals& totals;
  Delays* delays = nullptr;  // null: not recorded
  TxBuffer& tx;
  uint32_t host = 0;  // index into Topology::hosts
  Paths& paths;
  Budget budget{0};
  std::unique_ptr<Strategy> strategy;
  double line_rate = 0;  // B/s of the host's link, the most a flow may be paced at
  Nic nic;

  /// Counts packets of the flow as delivered.
  void credit(Flow& flow, const Acknowledged& done);
  /// The flow needs no budget any more: the strategy gives its share to the others.
  void leave_budget(Flow& flow);
};

}  // namespace turnpike::sender
