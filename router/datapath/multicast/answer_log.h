// SPDX-License-Identifier: BSD-3-Clause
// A branch's recent answers, until those of the other branches have come.
#pragma once

#include <vector>

#include "common/protocols/fcp/branch.h"
#include "router/datapath/multicast/price_log.h"

namespace turnpike::router {

/// One branch's answer to one request.
struct LoggedAnswer {
  uint32_t tag = 0;
  uint32_t echo = 0;  // timestamp of the request that it answers
  fcp::BranchAnswer header;
};

/// Used by one thread. A newer answer replaces an older one of the same place.
class AnswerLog {
 public:
  /// Answers of one branch that may come while another branch's is under way.
  static constexpr uint32_t kEntries = PriceLog::kEntries;

  AnswerLog() : entries_(kEntries) {}

  void store(const RequestId& id, uint32_t echo, const fcp::BranchAnswer& header) {
    entries_[id.place() % kEntries] = {id.tag(), echo, header};
  }
  /// Null: no answer, or too many since.
  [[nodiscard]] const LoggedAnswer* find(const RequestId& id) const {
    const LoggedAnswer& entry = entries_[id.place() % kEntries];
    return entry.tag == id.tag() ? &entry : nullptr;
  }

 private:
  std::vector<LoggedAnswer> entries_;
};

}  // namespace turnpike::router
