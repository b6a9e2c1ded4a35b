// SPDX-License-Identifier: BSD-3-Clause
// Searches the greatest rate that a device carries within a bound of loss: RFC 2544, section 26.1.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace turnpike::lab {

/// One trial at a share of the rates that the file gives its streams.
struct Point {
  double share = 0;
  double loss = 1;    // of the packets that were due
  bool valid = true;  // the device caused the loss
};

/// Plays a trial; an error ends the search.
using TryRate = std::function<tl::expected<Point, std::string>(double share)>;

struct Found {
  double share = 0;      // 0: all rates that were tried exceeded the loss
  bool limited = false;  // trials above it were invalid: a lower bound
};

/// Bisects between the greatest rate that passed and the least that failed, until these are
/// `resolution` of the rate apart. Uses the trials in `known`, and adds the new ones, so that a
/// later goal reuses those of an earlier one. A trial that passes counts, even if it was disturbed.
/// One that fails and is invalid does not bound the device's rate; the search continues below it.
tl::expected<Found, std::string> find_rate(double goal, double top, double resolution,
                                           std::vector<Point>& known, const TryRate& try_rate);

}  // namespace turnpike::lab
