// SPDX-License-Identifier: BSD-3-Clause
// A run's figures over time. Steady intervals are shaded; without data a chart has no points.
#pragma once

#include "common/report/chart.h"
#include "common/report/run_data.h"

namespace turnpike::report {

Chart rate_chart(const RunData& run);   // with entitled rates as dashed levels
Chart price_chart(const RunData& run);  // on a log axis if prices span decades
Chart queue_bytes_chart(const RunData& run);
Chart queue_delay_chart(const RunData& run);
Chart utilization_chart(const RunData& run);
Chart rtt_chart(const RunData& run);

}  // namespace turnpike::report
