// SPDX-License-Identifier: BSD-3-Clause
// What a stream's two ends tell: running totals that their lcore writes and anybody reads.
#pragma once

#include "common/metrics/counter.h"
#include "common/metrics/histogram.h"

namespace turnpike::sender {

/// Where a stream is sent.
struct Departures {
  metrics::Counter packets, bytes;  // sent; B of frames with FCS
  metrics::Counter skipped;         // packets that were due too long ago to be sent yet
  metrics::Counter no_buffer;       // times that there was none
  metrics::Counter no_room;         // times that the port took no more
  metrics::Histogram lag;  // ns from due to sent, of the first packet of a burst; read at the end
};

/// Where it arrives.
struct Arrivals {
  metrics::Counter packets, bytes;  // for the first time
  metrics::Counter reordered, duplicates, too_old;
  metrics::Counter strange;    // of no such stream, or with a number that it cannot have reached
  metrics::Counter untimed;    // sent by a clock that is not this program's
  metrics::Histogram latency;  // ns from the sender's poll to the receiver's; read at the end
};

}  // namespace turnpike::sender
