// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/result_files.h"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "common/report/run_report.h"
#include "common/report/whole_file.h"
#include "sender/results/series.h"
#include "sender/results/summary.h"

namespace turnpike::sender {

tl::expected<void, std::string> write_series(const config::Topology& topology, const Record& record,
                                             const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return tl::unexpected(folder + ": " + error.message());
  return report::write_text(folder + "/rates.csv", rates_csv(topology, record))
      .and_then([&] { return report::WholeFile::open(folder + "/flows.csv"); })
      .and_then([&](report::WholeFile file) {
        write_flows_csv(topology, record, file);
        return file.finish();
      });
}

tl::expected<void, std::string> write_results(const config::Topology& topology,
                                              const Record& record, const RunEnd& end,
                                              const std::string& folder) {
  return write_series(topology, record, folder)
      .and_then([&] {
        return report::write_text(folder + "/summary.json",
                                  run_summary(topology, record, end).dump(2) + "\n");
      })
      .and_then([&] { return report::render_run_report(folder); })
      .map([](const std::string&) {});
}

}  // namespace turnpike::sender
