// SPDX-License-Identifier: BSD-3-Clause
// Books the first rounds that SYNs announce, and compares announcements with arrivals.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

namespace turnpike::fcp {

/// The book of first rounds at a link, kept per lcore. A SYN books its first round's bytes; the
/// link's capacity drains the book in order of arrival.
///
/// Data packets carry a flag if they are of a first round, so that announcements can be compared
/// with arrivals: credit() is the fraction that arrived lately. The caller multiplies the next
/// SYN's bytes by it, so that SYNs without flows soon count for little.
class FirstRounds {
 public:
  static constexpr double kMemory = 64;   // average round trips
  static constexpr double kLag = 2;       // average round trips until arrival is due
  static constexpr double kPrior = 0.5;   // average round trips of capacity: weight of full credit
  static constexpr double kSlack = 1.05;  // times the arrivals: allows for losses and early ends

  /// B booked and not yet carried.
  struct Booked {
    double whole = 0;  // of flows that end with their first round, which wait for their turn
    double part = 0;   // of the others
    [[nodiscard]] double sum() const { return whole + part; }
  };

  /// Flows whose turn begins, summed.
  struct Turn {
    double bytes = 0;
    double demand = 0;  // B that they would send in their durations at their highest rates
    double money = 0;   // $ that they can pay in their durations
    double length = 0;  // B x s: their bytes times their durations
  };

  /// Books `bytes` of a flow that waits for its turn and then sends them within `seconds`, at up to
  /// `rate` B/s and `budget` $/s. `announced`: bytes expected to arrive.
  void book_whole(double announced, double bytes, double rate, double budget, double seconds) {
    booked_.whole += bytes;
    announced_ += announced;
    waiting_.bytes += bytes;
    waiting_.demand += rate * seconds;
    waiting_.money += budget * seconds;
    waiting_.length += bytes * seconds;
  }
  /// Books `bytes` of a flow that does not wait.
  void book_part(double announced, double bytes) {
    booked_.part += bytes;
    announced_ += announced;
  }

  /// The link has carried `bytes` of all lcores' bookings; flows that wait for their turn go first.
  void drain(double bytes, const Booked& others) {
    const double sum = booked_.sum();
    if (sum <= 0) return;
    const double drained = std::min(sum, bytes * (sum / (sum + others.sum())));
    const double announced = announced_ * (drained / sum);
    announced_ -= announced;
    drained_ += announced;
    const double whole = std::min(booked_.whole, drained);
    booked_.whole -= whole;
    booked_.part = std::max(booked_.part - (drained - whole), 0.0);
  }

  /// Returns the flows whose turn begins if the turns of the book's first `ahead` B have begun.
  Turn begin(double ahead) {
    const double begun = booked_.whole - waiting_.bytes;
    const double room = ahead - begun;
    // A remainder below a byte is rounding error: other fields must not be scaled by it.
    if (waiting_.bytes < room + 1) return std::exchange(waiting_, {});
    if (room <= 0) return {};
    const double share = room / waiting_.bytes;
    const Turn turn{room, waiting_.demand * share, waiting_.money * share, waiting_.length * share};
    waiting_.bytes -= turn.bytes;
    waiting_.demand -= turn.demand;
    waiting_.money -= turn.money;
    waiting_.length -= turn.length;
    return turn;
  }

  /// Counts a packet of a first round that has arrived.
  void come(double bytes) { came_ += bytes; }

  /// Advances by `seconds`: drained bytes become due, and old figures decay.
  void age(double seconds, double average_rtt) {
    const double kept = std::exp(-seconds / (kMemory * average_rtt));
    const double now_due = drained_ * -std::expm1(-seconds / (kLag * average_rtt));
    drained_ -= now_due;
    due_ = due_ * kept + now_due;
    came_ *= kept;
  }

  /// Fraction of announced bytes that arrive, at most 1. `capacity` in B/s, `average_rtt` in s.
  [[nodiscard]] double credit(double capacity, double average_rtt) const {
    const double prior = kPrior * average_rtt * capacity;
    return std::min((kSlack * came_ + prior) / (due_ + prior), 1.0);
  }
  [[nodiscard]] const Booked& booked() const { return booked_; }
  /// B of first rounds that arrived lately.
  [[nodiscard]] double came() const { return came_; }
  /// Whether there are flows whose turn has not begun.
  [[nodiscard]] bool waiting() const { return waiting_.bytes > 0; }

 private:
  Booked booked_;
  Turn waiting_;               // of booked_.whole
  double announced_ = 0;       // B of bookings not yet carried, as expected to arrive
  double drained_ = 0;         // B carried, not yet due to arrive
  double due_ = 0, came_ = 0;  // B, decaying
};

}  // namespace turnpike::fcp
