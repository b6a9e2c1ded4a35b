// SPDX-License-Identifier: BSD-3-Clause
// One topology and its traffic under several schemes.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/config/load.h"

namespace turnpike::lab {

/// Settings that make every link that has a law, and all traffic, run the scheme of that name.
/// Where the file names that scheme already, the file's parameters stay. `tcp+red` is tcp with its
/// preset red. All else stays, the random workload included.
std::vector<config::Setting> settings_for(const config::Topology& topology,
                                          const std::string& name);

/// Packets that a flow of the topology may send at once before it has heard from its path, the most
/// of all flows; NaN where all begin at a rate that the handshake brings. It is a parameter of a
/// scheme, and completion times of short flows depend on it.
double first_window(const config::Topology& topology);

struct SchemeRun {
  std::string scheme;
  std::string folder;      // its results
  double first_window;     // packets, of first_window()
  nlohmann::json summary;  // null: the run failed
};

struct Comparison {
  std::string file;
  std::vector<SchemeRun> runs;
  std::vector<std::string> finite = {};  // entries of the traffic whose flows end by themselves
};

/// A row per figure, a column per scheme: links with a law, completion times, fairness, hosts.
std::string compare_text(const Comparison& c);
nlohmann::json compare_json(const Comparison& c);
/// One self-contained page: completion time by flow size; fairness, utilisation, queue, price and
/// loss over time; the tables.
std::string compare_page(const Comparison& c);

}  // namespace turnpike::lab
