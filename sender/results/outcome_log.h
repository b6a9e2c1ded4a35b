// SPDX-License-Identifier: BSD-3-Clause
// Stores the outcomes of a run's flows in bounded memory.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sender/observed.h"

namespace turnpike::sender {

/// Keeps outcomes in order. Writes each block of kInMemory outcomes to an unnamed temporary file,
/// so that memory does not grow with the duration of the run. If it cannot write the file, outcomes
/// stay in memory.
class OutcomeLog {
 public:
  static constexpr size_t kInMemory = 16384;  // outcomes, about 1 MB

  /// `folder`: of the file; must exist once kInMemory outcomes have come.
  explicit OutcomeLog(std::string folder = ".") : folder_(std::move(folder)) {}
  ~OutcomeLog();
  OutcomeLog(const OutcomeLog&) = delete;
  OutcomeLog& operator=(const OutcomeLog&) = delete;

  void push_back(const FlowOutcome& outcome);
  [[nodiscard]] size_t size() const { return spilled_ + recent_.size(); }

  /// Returns and removes all outcomes. Throws std::runtime_error if it cannot read the file.
  std::vector<FlowOutcome> take();

 private:
  bool spill();

  std::string folder_;
  std::vector<FlowOutcome> recent_;  // those after the spilled ones
  size_t spilled_ = 0;
  int file_ = -1;
  bool in_memory_ = false;  // the file could not be written
};

}  // namespace turnpike::sender
