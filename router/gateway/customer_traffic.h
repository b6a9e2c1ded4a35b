// SPDX-License-Identifier: BSD-3-Clause
// Traffic that a gateway got from one customer and carried for it.
#pragma once

#include "common/metrics/counter.h"
#include "common/metrics/log_histogram.h"

namespace turnpike::gateway {

/// Of all tunnels of a customer. Their lcore writes, any thread reads.
struct CustomerTraffic {
  static constexpr double kMinWait = 16e3;  // ns

  /// `least_price`: $/B, of the histogram's first bucket.
  explicit CustomerTraffic(double least_price) : prices(least_price) {}

  metrics::Counter offered_bytes;         // datagrams that came for its tunnels
  metrics::LogHistogram prices;           // $/B paid, by bytes of tunnel packets
  metrics::LogHistogram waits{kMinWait};  // ns, by carried datagrams
};

}  // namespace turnpike::gateway
