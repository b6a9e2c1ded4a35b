// SPDX-License-Identifier: BSD-3-Clause
// A run's results in its folder: summary.json, rates.csv and, if a router took part, links.csv.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "common/parallel/threads.h"
#include "common/report/whole_file.h"

namespace turnpike::report {

/// One host over time, a point per sample.
struct HostSeries {
  std::string name = {};
  std::vector<double> t = {};         // s
  std::vector<double> rate = {};      // Mbps, acknowledged
  std::vector<double> price = {};     // $/B
  std::vector<double> rtt = {};       // ms
  std::vector<double> queueing = {};  // ms, of the round trip
};

/// One link over time, as its router measured it. NaN where the file has no value.
struct LinkSeries {
  std::string name = {};
  std::vector<double> t = {};            // s
  std::vector<double> price = {};        // $/B
  std::vector<double> queue_bytes = {};  // B
  std::vector<double> queue_delay = {};  // ms
  std::vector<double> utilization = {};  // share of the sampling interval, 0 to 1
  std::vector<double> drops = {};        // packets so far
};

/// The results of a run.
struct RunData {
  nlohmann::json summary;  // an object
  std::vector<HostSeries> hosts;
  std::vector<LinkSeries> links;
};

/// Reads a run's folder. Series are empty without rates.csv or links.csv. The error is the reason
/// why summary.json cannot be read. Threads may parse a file each.
tl::expected<RunData, std::string> read_run(const std::string& folder,
                                            const Threads& threads = Threads());

/// Adds figures of the link series that the summary's "links" lack, and the total of routers' drops
/// to its verdict. Calling it twice changes nothing.
void add_links(RunData& run);

/// Series by link, in the file's order. `text` is links.csv: t, link, price, queue_bytes,
/// queue_delay_ms, utilization, drops; columns may be missing. A router starts before the run and
/// stops after it: with a column unix_s and the run's own start as UNIX time, converts times to the
/// run's clock and keeps only samples within the run.
struct RunSpan {
  double unix_s = std::numeric_limits<double>::quiet_NaN();
  double duration_s = std::numeric_limits<double>::infinity();
};
std::vector<LinkSeries> link_series(const std::string& text, const RunSpan& run = {});

/// A link's part of summary.json from its series: utilization, queue_delay_ms {mean, p50, p99,
/// max}, queue_bytes {mean, max}, price {mean, last}, dropped_packets; omits unknown figures. A MIN
/// price counts as zero.
nlohmann::json summarise(const LinkSeries& link);

/// The content of a file; the error is the reason why it cannot be read.
tl::expected<std::string, std::string> read_text(const std::string& path);
/// The JSON object in a file; the error is the reason why there is none.
tl::expected<nlohmann::json, std::string> read_json(const std::string& path);

/// The number at a path of keys; NaN if there is none.
double number_at(const nlohmann::json& tree, std::initializer_list<const char*> keys);
/// The same, but 0 if there is none.
double number_or_zero(const nlohmann::json& tree, std::initializer_list<const char*> keys);

}  // namespace turnpike::report
