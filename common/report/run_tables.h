// SPDX-License-Identifier: BSD-3-Clause
// A run's tables, from summary.json alone. Tables without rows are omitted.
#pragma once

#include <nlohmann/json.hpp>

#include "common/report/page.h"

namespace turnpike::report {

HtmlTable share_table(const nlohmann::json& summary);        // per steady interval and host
HtmlTable utilization_table(const nlohmann::json& summary);  // per steady interval and link
HtmlTable link_table(const nlohmann::json& summary);         // over the whole run
HtmlTable host_table(const nlohmann::json& summary);
HtmlTable delay_table(const nlohmann::json& summary);          // RTT and queueing percentiles
HtmlTable flow_table(const nlohmann::json& summary);           // completion times by size
HtmlTable stream_rate_table(const nlohmann::json& summary);    // of streams that were sent
HtmlTable stream_packet_table(const nlohmann::json& summary);  // sent, received, lost
HtmlTable stream_latency_table(const nlohmann::json& summary);
HtmlTable fact_table(const nlohmann::json& summary);

}  // namespace turnpike::report
