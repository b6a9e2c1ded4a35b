// SPDX-License-Identifier: BSD-3-Clause
// List of the flows of a strategy that iterates over them.
#pragma once

#include <span>
#include <vector>

#include "sender/strategy/member.h"

namespace turnpike::sender {

/// add() and remove() take constant time. The members must outlive their entries.
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

  /// Begins a measurement of all members.
  void restart_counts(Nanos now) {
    for (Member* m : members_) m->restart(now);
  }

  /// Mean of the members' known RTTs; 0: none is known.
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
