// SPDX-License-Identifier: BSD-3-Clause
// A numbered list of runs in a folder, whose results are named by their content.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "lab/batch/case.h"
#include "lab/batch/run_folder.h"
#include "lab/child.h"

namespace turnpike::lab {

/// A run of the lab.
struct Task {
  std::string name;  // for people
  Case run;          // its folder is empty: Plan::result()
  std::string key;   // of the topology with all files that it reads, the seed and the program
};

/// A plan's folder may be shared by several machines. It has plan.json; results/KEY/ of each task
/// that has ended well, which is whole; failed/KEY.log of each one that has failed; and running/,
/// with a folder of each process that runs some (RunFolder). A task that has a result is never run
/// again, so a plan can be interrupted at any time, also by SIGKILL, and continued.
class Plan {
 public:
  /// An empty plan. `purpose`: what its maker needs to evaluate the results.
  Plan(std::string folder, nlohmann::json purpose);

  /// Adds a task. The error: a mistake in its file or settings, or a file that cannot be read.
  tl::expected<void, std::string> add(std::string name, Case run);
  /// Writes plan.json. The error: the folder cannot be written to.
  [[nodiscard]] tl::expected<void, std::string> write() const;
  /// Reads the plan in a folder. The error: there is none, or another build of this program made
  /// it.
  static tl::expected<Plan, std::string> read(const std::string& folder);

  [[nodiscard]] const std::vector<Task>& tasks() const { return tasks_; }
  [[nodiscard]] const nlohmann::json& purpose() const { return purpose_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

  /// The folder of a task's result.
  [[nodiscard]] std::string result(size_t task) const;
  [[nodiscard]] bool finished(size_t task) const;
  /// Why a task failed, the end of its log; empty: it has not.
  [[nodiscard]] std::string failure(size_t task) const;
  [[nodiscard]] std::vector<size_t> unfinished() const;

  /// Makes a folder for a task to run in, and the command that runs it there. The error: the folder
  /// cannot be made.
  [[nodiscard]] tl::expected<Command, std::string> begin(size_t task);
  /// The command of begin() has ended; `why` it failed, or empty. Moves the result to its place, or
  /// writes down why there is none. Returns why there is none.
  std::string end(size_t task, const std::string& why) const;
  /// The command of begin() was interrupted: removes what it has left.
  void abandon(size_t task) const;

 private:
  [[nodiscard]] std::string running(size_t task) const;
  [[nodiscard]] std::string failed_log(size_t task) const;

  std::string folder_, program_;
  nlohmann::json purpose_;
  std::vector<Task> tasks_;
  std::shared_ptr<RunFolder> own_;  // null until a task begins
};

}  // namespace turnpike::lab
