// SPDX-License-Identifier: BSD-3-Clause
// A router's figures as a page of metrics.
#pragma once

#include <string>

#include "common/metrics/prometheus.h"
#include "router/telemetry/figures.h"

namespace turnpike::router {

/// All families of families.h in its order, also those without samples. The number of samples
/// depends on the topology and kMaxNamed, never on traffic.
std::string metrics_page(const Figures& figures, metrics::TextFormat format);

}  // namespace turnpike::router
