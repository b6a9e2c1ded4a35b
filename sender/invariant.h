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

/// Checks two bounds for every host: (a) its commitment, the sum over its flows of w_i + pend_i, is
/// at most its budget; (b) its payments, the sum of price x size, are at most its budget in every
/// second. Where flows do not share the budget, both bounds count it once per open flow.
///
/// After a budget falls, the commitment may exceed it until the host has returned the excess. The
/// former budget bounds payments for two more round trips: by then the last packet sent before has
/// been acknowledged. (b) excludes HostTotals::unbudgeted_spend: packets at the floor rate, which
/// no budget bounds, and the part of a first packet's cost that its rate had not yet paid.
///
/// (b) allows the cost of two packets more, at the highest price of that second: a second that
/// begins and ends with a packet holds one more than its rate pays for, and a flow may owe another
/// one (Pacer::reprice). They matter where a price is so high that the host sends a few packets a
/// second.
///
/// Hosts that the topology declares as cheaters (Protocol::cheats) are not checked.
class Invariant {
 public:
  static constexpr Nanos kSecond{1'000'000'000};

  struct Tolerance {
    double commitment = 1e-6;  // fraction, for (a): preloads are binary32 in packets
    double spend = 0.05;       // fraction, for (b)
  };

  explicit Invariant(const config::Topology& topology) : Invariant(topology, Tolerance()) {}
  Invariant(const config::Topology& topology, Tolerance tolerance);

  /// Checks a host by its index into Topology::hosts. Call at intervals well below a second until
  /// the run stops. Returns a message with the host, bound, time and excess if a bound is broken.
  std::optional<std::string> check(uint32_t host, const HostTotals& totals, Nanos now);

 private:
  struct Bound {
    Nanos at{0};
    double value = 0;  // $/s in force since the previous call
  };
  struct Look {
    Nanos at{0};
    double spend = 0;  // $ so far, without HostTotals::unbudgeted_spend
    double price = 0;  // $/B
    uint32_t active = 0;
    uint64_t opened = 0;
  };
  struct Watched {
    std::string name;
    bool shared = true;
    double packet = 0;    // B, the largest of its flows'
    bool cheats = false;  // a flow of it exceeds its budget on purpose
    double budget = 0;    // $/s in force; of each flow where flows do not share it
    double past = 0;      // $/s before it fell
    Nanos past_until{0};  // `past` bounds payments until then
    Nanos longest_rtt{0};
    std::deque<Look> looks;
    std::deque<Bound> bounds;  // those of the looks that no later one exceeds
  };

  [[nodiscard]] std::optional<std::string> check_spend(const Watched& w, Nanos now) const;

  Tolerance tolerance_;
  std::vector<Watched> hosts_;
};

}  // namespace turnpike::sender
