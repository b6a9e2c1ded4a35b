// SPDX-License-Identifier: BSD-3-Clause
// Running totals of a stream's two ends. Their lcore writes; any thread reads.
#pragma once

#include "common/metrics/counter.h"
#include "common/metrics/histogram.h"

namespace turnpike::sender {

/// Totals of the sending end.
struct Departures {
  metrics::Counter packets, bytes;  // sent; B of frames with FCS
  metrics::Counter skipped;         // packets not sent because they were too late
  metrics::Counter no_buffer;       // attempts to send without a free mbuf
  metrics::Counter no_room;         // attempts to send while the TX buffer was full
  metrics::Histogram lag;  // ns from due to sent, of a burst's first packet; read after the run
};

/// Totals of the receiving end.
struct Arrivals {
  metrics::Counter packets, bytes;  // first copies
  metrics::Counter reordered, duplicates, too_old;
  metrics::Counter strange;    // packets with an invalid sequence number: kAbsurd
  metrics::Counter untimed;    // packets with a send time of another clock
  metrics::Histogram latency;  // ns from the sender's poll to the receiver's; read after the run
};

}  // namespace turnpike::sender
