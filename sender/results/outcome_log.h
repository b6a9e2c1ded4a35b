// SPDX-License-Identifier: BSD-3-Clause
// Stores the outcomes of a run's flows in bounded memory.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "sender/observed.h"

namespace turnpike::sender {

/// Collects outcomes in any order, and visits them in order of start, host and id. Writes each
/// block of kInMemory outcomes, sorted, to an unnamed temporary file, so that memory does not grow
/// with the duration of the run. If it cannot write the file, outcomes stay in memory.
class OutcomeLog {
 public:
  static constexpr size_t kInMemory = 16384;  // outcomes, about 1 MB

  /// Merges the sorted blocks, of each of which it reads kRead outcomes at a time. Valid while the
  /// log lives and nothing is added. Throws std::runtime_error if it cannot read the file.
  class Iterator {
   public:
    static constexpr size_t kRead = 64;

    explicit Iterator(const OutcomeLog& log);
    ~Iterator();

    const FlowOutcome& operator*() const;
    Iterator& operator++();
    bool operator==(std::default_sentinel_t) const;

   private:
    struct Merge;
    std::unique_ptr<Merge> merge_;
  };

  /// `folder`: of the file; must exist once kInMemory outcomes have come.
  explicit OutcomeLog(std::string folder = ".");
  OutcomeLog(OutcomeLog&& other) noexcept;
  OutcomeLog& operator=(OutcomeLog&& other) noexcept;
  ~OutcomeLog();

  void push_back(const FlowOutcome& outcome);
  [[nodiscard]] size_t size() const { return spilled_ + recent_.size(); }

  [[nodiscard]] Iterator begin() const { return Iterator(*this); }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  bool spill();

  std::string folder_;
  std::vector<FlowOutcome> recent_;  // those after the spilled ones
  size_t spilled_ = 0;               // a multiple of kInMemory
  int file_ = -1;
  bool in_memory_ = false;  // the file could not be written
};

}  // namespace turnpike::sender
