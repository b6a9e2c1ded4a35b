// SPDX-License-Identifier: BSD-3-Clause
// Says in log lines how a link's state changes, at a limited rate.
#pragma once

#include <optional>
#include <string>

#include "common/units/units.h"

namespace turnpike {

/// A first change gives its line at once. Changes within `kQuiet` of a line are counted, and give
/// one line with the latest state and their number when that time is over: a link that flaps
/// thousands of times gives one line per `kQuiet`.
class LinkChanges {
 public:
  static constexpr Nanos kQuiet = 1_s;

  /// `up`: the first state, which gives no line.
  LinkChanges(std::string name, bool up) : name_(std::move(name)), up_(up) {}

  /// The line, without newline, that is due at `now`, with the state since the last call. `reason`:
  /// why the link is down.
  std::optional<std::string> line(bool up, const std::string& reason, Nanos now);

 private:
  std::string name_;
  bool up_;               // at the last call
  Nanos since_{0};        // when it went down last; 0: never
  Nanos away_{0};         // how long it was down, when it came up last
  Nanos quiet_{0};        // no line before
  unsigned changes_ = 0;  // since the last line
};

}  // namespace turnpike
