// SPDX-License-Identifier: BSD-3-Clause
// The flows of a strategy that looks at them one by one.
#pragma once

#include <span>
#include <vector>

#include "sender/strategy/member.h"

namespace turnpike::sender {

/// Coming and going cost the same however many there are.
class Roster {
 public:
  void add(Member& m) {
    m.place = static_cast<uint32_t>(members_.size());
    members_.push_back(&m);
  }
  void remove(const Member& m) {
    members_[m.place] = members_.back();
    members_[m.place]->place = m.place;
    members_.pop_back();
  }
  [[nodiscard]] std::span<Member* const> members() const { return members_; }
  [[nodiscard]] bool empty() const { return members_.empty(); }

  /// Begins to measure.
  void restart_counts(Nanos now) {
    for (Member* m : members_) m->restart(now);
  }

  /// Average of the round trips that are known; 0 when none is.
  [[nodiscard]] Nanos mean_rtt() const {
    Nanos sum{0};
    int64_t known = 0;
    for (const Member* m : members_) {
      sum += m->rtt;
      known += m->rtt > Nanos(0) ? 1 : 0;
    }
    return known > 0 ? Nanos(sum.count() / known) : Nanos(0);
  }

 private:
  std::vector<Member*> members_;
};

}  // namespace turnpike::sender
