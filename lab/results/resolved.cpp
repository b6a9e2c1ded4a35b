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
  // All are read before one is written: a file may bear the name of another's copy.
  std::vector<std::pair<std::string, std::string>> copies;
  const auto copy = [&](std::string& file, std::string name) -> tl::expected<void, std::string> {
    auto text = report::read_text(file);
    if (!text) return tl::unexpected(text.error());
    file = std::move(name);
    copies.emplace_back(folder + "/" + file, std::move(*text));
    return {};
  };
  // No other files of a run begin so, for any names of workloads and routers.
  for (config::Workload& w : t.workloads)
    if (auto* trace = std::get_if<config::TraceSize>(&w.size))
      if (auto done = copy(trace->file, "trace-" + w.name + ".csv"); !done) return done;
  for (config::Router& r : t.routers)
    if (!r.table.empty())
      if (auto done = copy(r.table, "table-" + r.name + ".txt"); !done) return done;
  for (const auto& [path, text] : copies) {
    if (report::read_text(path) == text) continue;
    if (auto done = report::write_text(path, text); !done) return done;
  }
  return report::write_text(folder + "/resolved.yaml", heading() + config::resolved_text(t));
}

}  // namespace turnpike::lab
