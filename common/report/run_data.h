// SPDX-License-Identifier: BSD-3-Clause
// What a run left in its folder: summary.json, rates.csv and, if a router took part, links.csv.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

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

/// One link over time, as its router saw it. NaN where the file says nothing.
struct LinkSeries {
  std::string name = {};
  std::vector<double> t = {};            // s
  std::vector<double> price = {};        // $/B
  std::vector<double> queue_bytes = {};  // B
  std::vector<double> queue_delay = {};  // ms
  std::vector<double> utilization = {};  // of the sampling interval, 0 to 1
  std::vector<double> drops = {};        // packets so far
};

struct RunData {
  nlohmann::json summary;  // an object
  std::vector<HostSeries> hosts;
  std::vector<LinkSeries> links;
};

/// Reads a run's folder. Without rates.csv or links.csv the series are empty; without a readable
/// summary.json there is no run, and the error says why.
tl::expected<RunData, std::string> read_run(const std::string& folder);

/// Adds what the link series tell and the summary's "links" do not say yet, and what routers
/// dropped in all to its verdict. Doing it twice changes nothing.
void add_links(RunData& run);

/// Series by link, in the order in which the file names them first. `text` is links.csv: t, link,
/// price, queue_bytes, queue_delay_ms, utilization, drops; columns may be missing. A router's clock
/// starts before the run's and stops after it: with a column unix_s, and the run's own start as
/// UNIX time, times are moved to the run's clock and only what lies within the run is kept.
struct RunSpan {
  double unix_s = std::numeric_limits<double>::quiet_NaN();
  double duration_s = std::numeric_limits<double>::infinity();
};
std::vector<LinkSeries> link_series(const std::string& text, const RunSpan& run = {});

/// A link's part of summary.json as its series tell it: utilization, queue_delay_ms {mean, p50,
/// p99, max}, queue_bytes {mean, max}, price {mean, last}, dropped_packets; what is not known is
/// left out. A MIN price counts as zero.
nlohmann::json summarise(const LinkSeries& link);

/// A whole file, or why not.
tl::expected<std::string, std::string> read_text(const std::string& path);
/// The JSON object that is a whole file, or why not.
tl::expected<nlohmann::json, std::string> read_json(const std::string& path);

/// A number at a path of keys; NaN where there is none.
double number_at(const nlohmann::json& tree, std::initializer_list<const char*> keys);
/// The same, 0 where there is none.
double number_or_zero(const nlohmann::json& tree, std::initializer_list<const char*> keys);

}  // namespace turnpike::report
