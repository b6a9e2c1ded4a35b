// SPDX-License-Identifier: BSD-3-Clause
// Customers and senders whose packets were dropped: in JSON, as text, and as lines of the log.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/units/units.h"
#include "router/snapshot.h"

namespace turnpike::router {

/// {NAME: {"budget":..,"dropped":..,"dropped_bytes":..,"reasons":{"spending":..,..}}}: those with
/// the most drops, at most kMaxListed.
nlohmann::ordered_json customers_json(std::span<const CustomerSnapshot> customers);
/// A line for each of the same customers.
std::string customers_text(std::span<const CustomerSnapshot> customers);

/// {LINK: {ADDRESS: {"owed":..,"offences":..,"dropped":..}}}: senders that the audit of a last link
/// has blocked.
nlohmann::ordered_json offenders_json(std::span<const OffenderSnapshot> offenders);
/// A line for each of them.
std::string offenders_text(std::span<const OffenderSnapshot> offenders);

inline constexpr size_t kMaxListed = 100;

/// Log lines about customers and senders with new drops. Each is named at most once per kRepeat,
/// and a call returns at most kMaxLines; further ones are counted in the last line.
class CustomerLog {
 public:
  static constexpr Nanos kRepeat = 10_s;
  static constexpr size_t kMaxLines = 5;

  /// All with drops since the start.
  std::vector<std::string> lines(std::span<const CustomerSnapshot> customers,
                                 std::span<const OffenderSnapshot> offenders, Nanos now);

 private:
  struct Known {
    uint64_t dropped = 0;  // when it was named last
    Nanos named{0};
  };
  std::map<std::string, Known> known_;
};

}  // namespace turnpike::router
