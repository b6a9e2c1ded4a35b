// SPDX-License-Identifier: BSD-3-Clause
// The greatest rate that a device carries with no more than so much loss: RFC 2544, section 26.1.
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
  bool valid = true;  // it was the device that lost them
};

/// Plays a trial; the error is one after which there is no sense in going on.
using TryRate = std::function<tl::expected<Point, std::string>(double share)>;

struct Found {
  double share = 0;      // 0: no rate that was tried had so little loss
  bool limited = false;  // above it trials were invalid: it is a lower bound
};

/// By halves between what passed and what failed, until these are `resolution` of the rate apart.
/// `known` are trials that have been played, and takes the new ones: a later goal profits from an
/// earlier one's. A trial that passes counts, whatever disturbed it; one that fails for a reason
/// that is not the device's does not bound the device's rate, but the search goes on below it.
tl::expected<Found, std::string> find_rate(double goal, double top, double resolution,
                                           std::vector<Point>& known, const TryRate& try_rate);

}  // namespace turnpike::lab
