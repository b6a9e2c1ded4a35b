// SPDX-License-Identifier: BSD-3-Clause
// Outcomes of flows: while a run lasts, as many as there are in bounded memory.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sender/observed.h"

namespace turnpike::sender {

/// Outcomes, to be taken in the order in which they came. Each block of kInMemory outcomes goes to
/// a file that has no name, so that a run of hours takes no more memory than one of seconds. Where
/// no such file can be made or written, outcomes stay in memory.
class OutcomeLog {
 public:
  static constexpr size_t kInMemory = 16384;  // outcomes, about 1 MB

  /// `folder`: where to make the file; it need not exist before kInMemory outcomes are there.
  explicit OutcomeLog(std::string folder = ".") : folder_(std::move(folder)) {}
  ~OutcomeLog();
  OutcomeLog(const OutcomeLog&) = delete;
  OutcomeLog& operator=(const OutcomeLog&) = delete;

  void push_back(const FlowOutcome& outcome);
  [[nodiscard]] size_t size() const { return spilled_ + recent_.size(); }

  /// All of them; none are left. Throws std::runtime_error where the file cannot be read.
  std::vector<FlowOutcome> take();

 private:
  bool spill();

  std::string folder_;
  std::vector<FlowOutcome> recent_;  // those after the spilled ones
  size_t spilled_ = 0;
  int file_ = -1;
  bool in_memory_ = false;  // no file can be used
};

}  // namespace turnpike::sender
