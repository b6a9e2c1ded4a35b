// SPDX-License-Identifier: BSD-3-Clause
// Gathers the results of several machines' processes, and joins them.
#pragma once

#include <span>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "lab/machines/machine.h"

namespace turnpike::lab {

/// The folder of a machine's own files.
std::string machine_folder(const std::string& folder, const Place& place);

class MachineResults {
 public:
  /// `topology` must outlive it; `folder` is the run's.
  MachineResults(const config::Topology& topology, std::string folder)
      : topology_(topology), folder_(std::move(folder)) {}

  /// Takes the next part of a file, which an agent calls `name`. Files of a router go where a run
  /// on one machine has them, others to the machine's folder; a sender's record is kept. Throws
  /// std::runtime_error for a name outside of these folders.
  tl::expected<void, std::string> take(Machine& machine, const std::string& name,
                                       const std::string& text);
  /// Completes the file that was taken last.
  static tl::expected<void, std::string> finish(Machine& machine);

  /// Writes the results of the whole run, and returns its summary; null: no sender has left a
  /// record. `start_s`: UNIX time of this machine; `failure`: why the run ended early, or empty.
  [[nodiscard]] tl::expected<nlohmann::json, std::string> join(std::span<const Machine> machines,
                                                               double start_s,
                                                               const std::string& failure) const;

 private:
  [[nodiscard]] std::string folder_of(const std::string& router) const;
  void correct_times(const Machine& machine) const;

  const config::Topology& topology_;
  std::string folder_;
};

}  // namespace turnpike::lab
