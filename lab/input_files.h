// SPDX-License-Identifier: BSD-3-Clause
// The files that a topology file names.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "common/config/topology.h"

namespace turnpike::lab {

/// Paths of traces, lists of edges, tables of routes and of customers, and keys of gateways that
/// could be read.
inline std::vector<std::string> input_files(const config::Topology& topology) {
  std::vector<std::string> files;
  for (const config::Workload& w : topology.workloads)
    if (const auto* trace = std::get_if<config::TraceSize>(&w.size)) files.push_back(trace->file);
  for (const config::Router& r : topology.routers)
    if (!r.table.empty()) files.push_back(r.table);
  files.insert(files.end(), topology.edge_lists.begin(), topology.edge_lists.end());
  if (!topology.customer_table.empty()) files.push_back(topology.customer_table);
  for (const config::Gateway& g : topology.gateways)
    if (g.security && g.security->unread.empty()) files.push_back(g.security->key_file);
  return files;
}

}  // namespace turnpike::lab
