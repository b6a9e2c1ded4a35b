// SPDX-License-Identifier: BSD-3-Clause
// Checks at the last link of a path that senders pay the prices that they are charged.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/config/topology.h"
#include "common/protocols/charge.h"
#include "common/units/units.h"

namespace turnpike::router {

/// One worker's audit of an egress link behind which no other router is. Links with `audit: on` add
/// their prices at the time of payment to a packet's charge; an honest sender's payments are as
/// much on average (section 5 of FCP's paper: re-feedback). The part of the charges that the
/// payments fall short of is a sender's debt.
///
/// While debts are below a thousandth of the traffic, the audit keeps two averages of the link
/// alone. Above that it adds up the charges and debts of each sender in consecutive windows, in a
/// table of fixed size, and blocks a sender that owes more than a hundredth of its charges in each
/// of kWindows: a flow that a link moves to a dearer class pays too little for one round trip. A
/// block lasts for two memories at first, and twice as long for each offence that follows soon.
///
///     for each packet that arrives: if (audit.blocks(now)) audit.blocked(source, now) -> drop it
///     for each burst stamped:       if (audit.account(charges, now))
///       for each of its packets:      audit.account(source, paid, charged, now)
class BalanceAudit {
 public:
  using Address = config::Ipv6;  // IPv4 as ::ffff:a.b.c.d

  /// `memory`: of the averages, at least ten of the longest round trips. A window is a fifth of it.
  explicit BalanceAudit(Nanos memory = kDefaultMemory) : memory_(memory) {}

  /// Counts packets whose payments have been read; those that no link has charged count nothing.
  /// Returns whether senders are watched: account() each of these packets then.
  bool account(const ChargeBatch& packets, Nanos now);
  /// Counts a packet of a sender while senders are watched: $, `charged` more than 0.
  void account(const Address& source, double paid, double charged, Nanos now);

  /// Whether any sender is blocked. Cheap: most links have none.
  [[nodiscard]] bool blocks(Nanos now) const { return now < blocks_until_; }
  /// Whether this sender's packets are to be dropped. Counts the drop.
  bool blocked(const Address& source, Nanos now);

  /// A sender that was blocked; safe from any thread, approximate while packets pass.
  struct Offender {
    Address source{};
    double owed = 0;  // share of its charges, in the window before the last block
    uint64_t offences = 0;
    uint64_t dropped = 0;  // packets
  };
  static constexpr size_t kMaxOffenders = 32;
  /// Writes the newest offenders; returns their number.
  size_t offenders(std::span<Offender> out) const;
  /// Blocks so far.
  [[nodiscard]] uint64_t offences() const { return offences_.load(std::memory_order_relaxed); }

  static constexpr Nanos kDefaultMemory = 500'000'000_ns;

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static constexpr size_t kSenders = 1024, kWays = 4;
  // Of a packet's charge: no sender may pay too much while prices are low and too little later.
  static constexpr double kMaxCredit = 0.1;
  static constexpr double kSuspicious = 1e-3, kGuilty = 0.01;
  static constexpr uint32_t kWindows = 5;    // in a row
  static constexpr uint32_t kEvidence = 10;  // packets of a sender in a window; fewer prolong it
  static constexpr int64_t kWatch = 4;       // memories that senders are watched after a suspicion
  static constexpr int64_t kMaxBlock = 60'000'000'000;  // ns

  // Sums that fade with age.
  struct Average {
    double charged = 0, owed = 0;  // B
    int64_t aged = 0;              // ns
    void age(int64_t now, int64_t memory_ns);
  };
  struct Sender {
    Address source{};
    double charged = 0, owed = 0;  // $ in the present window
    int64_t window_end = 0;        // ns; 0: free place
    int64_t blocked_until = 0;     // ns
    int64_t pardon = 0;            // ns: earlier offences are forgotten from then on
    uint32_t packets = 0;          // in the present window
    uint16_t guilty = 0;           // windows in a row
    uint16_t offences = 0;
    [[nodiscard]] double share() const { return charged > 0 ? owed / charged : 0; }
  };
  // Written by the worker, read by any thread.
  struct Published {
    std::array<std::atomic<uint64_t>, 2> source{};
    std::atomic<double> owed{0};
    std::atomic<uint64_t> offences{0}, dropped{0};
  };

  Sender* find(const Address& source);
  Sender* watch(const Address& source, int64_t now);
  void begin_window(Sender& s, int64_t now) const;
  void end_window(Sender& s, int64_t now);
  void block(Sender& s, int64_t now);
  Published& place_for(const Address& source);

  Nanos memory_;
  Average link_;
  Nanos watch_until_{0}, blocks_until_{0};
  std::array<Sender, kSenders> senders_{};
  std::array<Published, kMaxOffenders> published_{};
  std::atomic<uint64_t> offences_{0};
};

}  // namespace turnpike::router
