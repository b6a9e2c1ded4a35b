// SPDX-License-Identifier: BSD-3-Clause
// Accounts of a gateway's customers for billing: what each sent and paid, second by second.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/metrics/log_histogram.h"
#include "common/units/units.h"
#include "router/results/daily_file.h"

namespace turnpike::router {

/// A customer's figures since the gateway's start, except where a name says otherwise.
struct Account {
  std::string_view customer;
  uint64_t offered_bytes = 0;       // of datagrams that came for its tunnels
  uint64_t carried_bytes = 0;       // of those that its queues gave to the core
  uint64_t packets = 0, bytes = 0;  // of its tunnels, with their headers
  double spend = 0;                 // $
  uint64_t dropped = 0;             // datagrams, by its queues
  uint64_t marked = 0;              // datagrams, by its queues
  uint64_t lost = 0;                // packets of its tunnels, in the core
  bool limited = false;             // at present: datagrams wait and its budget is spent
  bool at_ceiling = false;          // at present: they wait, and its ceiling holds them back
  bool bypassed = false;            // at present: it is forwarded outside of tunnels
  bool peer_silent = false;         // at present: a peer of the gateway does not answer
  double budget = 0;                // at present, $/s
  double price = 0;                 // $/B, as the core said last
  // Prices paid, $/B by bytes, and waiting times of carried datagrams, ns; null: none are kept.
  const metrics::LogHistogram *prices = nullptr, *waits = nullptr;
};

/// Whether the gateway has sent packets for it.
inline bool has_sent(const Account& account) { return account.packets > 0; }

/// A word for the most important of its states at present: "bypassed", "silent" (a peer), "limited"
/// (by its budget), "ceiling", or "" if nothing holds it back.
std::string_view state_of(const Account& account);

/// Writes a line for each customer whose figures have changed since its last line. The lines of a
/// customer add up to its figures: what could not be written is in a later line.
class Accounts {
 public:
  static constexpr Nanos kInterval = 1_s;
  static constexpr const char* kColumns =
      "time,seconds,customer,offered_bytes,carried_bytes,packets,bytes,spend,price_per_mb,"
      "price_p95_per_mb,limited_seconds,ceiling_seconds,wait_p99_ms,dropped,marked,lost";

  /// `begin`: since when the figures count.
  Accounts(DailyFile file, Nanos begin) : file_(std::move(file)), last_(begin) {}

  /// Call every kInterval and at the end. `accounts`: of all customers, in the same order at each
  /// call. `now` is monotonic: a line's `seconds` do not depend on steps of the wall clock, which
  /// `unix_ns` is. Returns a line for the log when writing begins to fail, and when it works again.
  std::optional<std::string> write(std::span<const Account> accounts, Nanos now, int64_t unix_ns);

  /// Whether the last lines could not be written.
  [[nodiscard]] bool failing() const { return failing_; }
  /// Calls that could not write.
  [[nodiscard]] uint64_t failures() const { return failures_; }

 private:
  struct Histograms {
    metrics::LogHistogram::Values prices, waits;
  };
  struct Written {
    Account figures;
    std::unique_ptr<Histograms> histograms;  // null: no line yet
    Nanos at{0};                             // begin of the next line
    Nanos limited{0}, at_ceiling{0};         // since then
  };
  /// A line that is to be written.
  struct Entry {
    size_t customer;
    std::unique_ptr<Histograms> histograms;
  };
  /// `entries`: gets one for each of the lines that it returns.
  std::string text(std::span<const Account> accounts, Nanos now, int64_t unix_ns,
                   std::vector<Entry>& entries) const;

  DailyFile file_;
  std::vector<Written> written_;  // by customer
  Nanos last_;                    // call
  bool failing_ = false;
  unsigned replaced_ = 0;  // files, as told
  uint64_t failures_ = 0;
};

}  // namespace turnpike::router
