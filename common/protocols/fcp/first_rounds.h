// SPDX-License-Identifier: BSD-3-Clause
// What SYNs have announced, when the link carries it, and how much of it comes.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

namespace turnpike::fcp {

/// The book of first rounds at a link, as one lcore keeps it. A SYN's bytes are booked, and the
/// link's capacity drains the book in order of arrival.
///
/// Data packets say whether they are of a first round, so that announcements are held against
/// arrivals: credit() is the share that came lately, by which the next SYN's bytes are multiplied.
/// SYNs that announce flows which never come soon count for little.
class FirstRounds {
 public:
  static constexpr double kMemory = 64;   // average round trips
  static constexpr double kLag = 2;       // average round trips until what has drained is due
  static constexpr double kPrior = 0.5;   // average round trips of capacity that are believed
  static constexpr double kSlack = 1.05;  // times what came: losses, flows that end early

  /// B yet to be carried.
  struct Booked {
    double whole = 0;  // of flows that end with their first round, which wait for their turn
    double part = 0;   // of the others
    [[nodiscard]] double sum() const { return whole + part; }
  };

  /// Flows that have waited.
  struct Turn {
    double bytes = 0;
    double demand = 0;  // B that they would send in their time as fast as they can
    double money = 0;   // $ that they can pay in their time
    double length = 0;  // B x s: their bytes times their time
  };

  /// Books `bytes` of a flow that waits for its turn and sends them within `seconds`, at `rate` B/s
  /// for up to `budget` $/s. `announced` B are expected.
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

  /// The link has carried `bytes` of what all lcores have booked, those that wait for their turn
  /// first.
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

  /// Takes those whose turn begins when `ahead` B of the book have theirs.
  Turn begin(double ahead) {
    const double begun = booked_.whole - waiting_.bytes;
    const double room = ahead - begun;
    // What is less than a byte is rounding, of which no other figure may be a multiple.
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

  /// A packet of a first round has arrived.
  void come(double bytes) { came_ += bytes; }

  /// `seconds` pass: what has drained becomes due, and the past fades.
  void age(double seconds, double average_rtt) {
    const double kept = std::exp(-seconds / (kMemory * average_rtt));
    const double now_due = drained_ * -std::expm1(-seconds / (kLag * average_rtt));
    drained_ -= now_due;
    due_ = due_ * kept + now_due;
    came_ *= kept;
  }

  [[nodiscard]] double credit(double capacity, double average_rtt) const {
    const double prior = kPrior * average_rtt * capacity;
    return std::min((kSlack * came_ + prior) / (due_ + prior), 1.0);
  }
  [[nodiscard]] const Booked& booked() const { return booked_; }
  /// B of first rounds that have come lately.
  [[nodiscard]] double came() const { return came_; }
  /// Whether there are flows whose turn has not begun.
  [[nodiscard]] bool waiting() const { return waiting_.bytes > 0; }

 private:
  Booked booked_;
  Turn waiting_;               // of booked_.whole
  double announced_ = 0;       // B of the bookings yet to be carried, as announced
  double drained_ = 0;         // B carried whose arrival is not yet due
  double due_ = 0, came_ = 0;  // B, lately
};

}  // namespace turnpike::fcp
