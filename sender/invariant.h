// SPDX-License-Identifier: BSD-3-Clause
// Checks that hosts keep within their budgets: equation 1 of the FCP paper.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "common/config/topology.h"
#include "sender/observed.h"

namespace turnpike::sender {

/// Two promises of every host: (a) what the network counts on, the sum over its flows of
/// w_i + pend_i, is within its budget; (b) so is what it pays, the sum of price x size, in every
/// second. Both count the budget once for each flow that was open where flows do not share it.
///
/// A host whose budget falls may be above it until it has given back what is too much. The budget
/// it had bounds what it pays for two more round trips, after which the last ACK of what was sent
/// before has come. (b) excludes HostTotals::unbudgeted_spend: packets at the floor rate, which
/// prices set and no budget does, and what a flow's first packet costs beyond what it saved.
class Invariant {
 public:
  static constexpr Nanos kSecond{1'000'000'000};

  struct Tolerance {
    double commitment = 1e-6;  // of (a); preloads travel as binary32
    double spend = 0.05;       // of (b)
  };

  explicit Invariant(const config::Topology& topology) : Invariant(topology, Tolerance()) {}
  Invariant(const config::Topology& topology, Tolerance tolerance);

  /// Looks at a host, by its index into Topology::hosts; at intervals that are the caller's choice
  /// and well below a second, until the run stops. Returns which promise was broken, by whom, when
  /// and by how much.
  std::optional<std::string> check(uint32_t host, const HostTotals& totals, Nanos now);

 private:
  struct Bound {
    Nanos at{0};
    double value = 0;  // $/s that were in force since the look before
  };
  struct Look {
    Nanos at{0};
    double spend = 0;  // $ so far, without the floor's part
    uint32_t active = 0;
    uint64_t opened = 0;
  };
  struct Watched {
    std::string name;
    bool shared = true;
    double budget = 0;  // $/s in force, of each flow where it is not shared
    double past = 0;    // what it was before it fell, and how long that still bounds spending
    Nanos past_until{0};
    Nanos longest_rtt{0};
    std::deque<Look> looks;
    std::deque<Bound> bounds;  // of the looks, those that no later one exceeds
  };

  [[nodiscard]] std::optional<std::string> check_spend(const Watched& w, Nanos now) const;

  Tolerance tolerance_;
  std::vector<Watched> hosts_;
};

}  // namespace turnpike::sender
