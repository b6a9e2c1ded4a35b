// SPDX-License-Identifier: BSD-3-Clause
// How far a plan has come, on a terminal and as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "lab/program/stopwatch.h"

namespace turnpike::lab {

class Progress {
 public:
  /// `total` tasks, `finished` of which have a result from earlier. `file`: for the JSON.
  Progress(size_t total, size_t finished, std::string file);
  /// Ends the line on the terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows these numbers; at most a few times a second unless `last`.
  void show(size_t finished, size_t failed, bool last = false);

  /// "12 of 200 runs, 3 failed, about 40 s left". `left_s`: NaN where it is not known.
  static std::string text(size_t total, size_t finished, size_t failed, double left_s);

 private:
  size_t total_, before_;
  std::string file_;
  bool watched_;
  Stopwatch watch_;
  double next_ = 0;  // s, of the next update
};

}  // namespace turnpike::lab
