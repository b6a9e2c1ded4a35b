// SPDX-License-Identifier: BSD-3-Clause
#include "lab/results/resolved.h"

#include <utility>
#include <vector>

#include <rte_version.h>

#include "common/config/resolve.h"
#include "common/report/run_data.h"

namespace turnpike::lab {
namespace {

std::string heading() {
  return std::string("# A run with every default written out, by Turnpike ") + TURNPIKE_VERSION +
         " and " + rte_version() + ".\n# `turnpike lab` on this file repeats it to the byte.\n";
}

}  // namespace

tl::expected<void, std::string> write_resolved(const config::Topology& topology,
                                               const std::string& folder) {
  config::Topology t = topology;
  // All are read before one is written: a trace may bear the name of another's copy.
  std::vector<std::pair<std::string, std::string>> traces;
  for (config::Workload& w : t.workloads) {
    auto* trace = std::get_if<config::TraceSize>(&w.size);
    if (trace == nullptr) continue;
    auto text = report::read_text(trace->file);
    if (!text) return tl::unexpected(text.error());
    // No other file of a run begins so, whatever the workload is called.
    trace->file = "trace-" + w.name + ".csv";
    traces.emplace_back(folder + "/" + trace->file, std::move(*text));
  }
  for (const auto& [path, text] : traces) {
    if (report::read_text(path) == text) continue;
    if (auto done = report::write_text(path, text); !done) return done;
  }
  return report::write_text(folder + "/resolved.yaml", heading() + config::resolved_text(t));
}

}  // namespace turnpike::lab
