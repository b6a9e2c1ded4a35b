// SPDX-License-Identifier: BSD-3-Clause
// Books the first rounds that SYNs announce, and compares announcements with arrivals.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

namespace turnpike::fcp {

/// Virtual queue of announced first rounds at a link, one per lcore. A SYN adds its first round's
/// bytes; they drain at the link's capacity, first rounds that wait for their turn before the
/// others. Derivation: docs/control.md, "First rounds".
///
/// Data packets carry a flag if they are of a first round, so that announcements can be compared
/// with arrivals: credit() is the fraction of announced bytes that arrived in the last kMemory
/// round trips. The caller multiplies the next SYN's bytes by it, so that a flood of SYNs without
/// data loses its effect.
class FirstRounds {
 public:
  static constexpr double kMemory = 64;  // average round trips
  static constexpr double kLag = 2;      // average round trips until arrival is due
  static constexpr double kPrior = 0.5;  // average round trips at capacity: weight of a credit of 1
  static constexpr double kSlack = 1.05;  // factor on arrivals, for losses and flows that end early

  /// B booked and not yet carried.
  struct Booked {
    double ending = 0;  // of flows that end with their first round; they wait for their turn
    double longer = 0;  // of longer flows; they do not wait
    [[nodiscard]] double sum() const { return ending + longer; }
  };

  /// Sums over the flows whose turn begins.
  struct Turn {
    double bytes = 0;
    double demand = 0;        // B: sum of highest rate times duration
    double money = 0;         // $: sum of budget times duration
    double byte_seconds = 0;  // B x s: sum of bytes times duration
  };

  /// Books `bytes` of a flow that waits for its turn and then sends them within `seconds`, at up to
  /// `rate` B/s and `budget` $/s. `announced`: B that the SYN announced, before the credit.
  void book_ending(double announced, double bytes, double rate, double budget, double seconds) {
    booked_.ending += bytes;
    announced_ += announced;
    waiting_.bytes += bytes;
    waiting_.demand += rate * seconds;
    waiting_.money += budget * seconds;
    waiting_.byte_seconds += bytes * seconds;
  }
  /// Books `bytes` of a flow that does not wait.
  void book_longer(double announced, double bytes) {
    booked_.longer += bytes;
    announced_ += announced;
  }

  /// Removes this lcore's part of the `bytes` that the link has carried of all bookings; flows that
  /// wait for their turn first. `others`: bookings of the other lcores.
  void drain(double bytes, const Booked& others) {
    const double sum = booked_.sum();
    if (sum <= 0) return;
    const double drained = std::min(sum, bytes * (sum / (sum + others.sum())));
    const double announced = announced_ * (drained / sum);
    announced_ -= announced;
    drained_ += announced;
    const double ended = std::min(booked_.ending, drained);
    booked_.ending -= ended;
    booked_.longer = std::max(booked_.longer - (drained - ended), 0.0);
  }

  /// Starts the turns of flows among the first `ahead` B and returns their sums; a flow that lies
  /// partly within counts in proportion.
  Turn begin_turns(double ahead) {
    const double started = booked_.ending - waiting_.bytes;
    const double room = ahead - started;
    // A remainder below a byte is rounding error: other fields must not be scaled by it.
    if (waiting_.bytes < room + 1) return std::exchange(waiting_, {});
    if (room <= 0) return {};
    const double share = room / waiting_.bytes;
    const Turn turn{room, waiting_.demand * share, waiting_.money * share,
                    waiting_.byte_seconds * share};
    waiting_.bytes -= turn.bytes;
    waiting_.demand -= turn.demand;
    waiting_.money -= turn.money;
    waiting_.byte_seconds -= turn.byte_seconds;
    return turn;
  }

  /// Counts a packet of a first round that has arrived.
  void count_arrival(double bytes) { arrived_ += bytes; }

  /// Advances by `seconds`: drained bytes become due; due and arrived bytes decay over kMemory
  /// round trips.
  void age(double seconds, double average_rtt) {
    const double kept = std::exp(-seconds / (kMemory * average_rtt));
    const double now_due = drained_ * -std::expm1(-seconds / (kLag * average_rtt));
    drained_ -= now_due;
    due_ = due_ * kept + now_due;
    arrived_ *= kept;
  }

  /// Fraction of announced bytes that arrive, at most 1. `capacity` in B/s, `average_rtt` in s.
  [[nodiscard]] double credit(double capacity, double average_rtt) const {
    const double prior = kPrior * average_rtt * capacity;
    return std::min((kSlack * arrived_ + prior) / (due_ + prior), 1.0);
  }
  [[nodiscard]] const Booked& booked() const { return booked_; }
  /// B of first rounds that arrived in the last kMemory round trips.
  [[nodiscard]] double arrived() const { return arrived_; }
  /// Whether there are flows whose turn has not begun.
  [[nodiscard]] bool waiting() const { return waiting_.bytes > 0; }

 private:
  Booked booked_;
  Turn waiting_;                  // of booked_.ending
  double announced_ = 0;          // B announced by the bookings not yet drained
  double drained_ = 0;            // B carried, not yet due to arrive
  double due_ = 0, arrived_ = 0;  // B, decaying
};

}  // namespace turnpike::fcp
