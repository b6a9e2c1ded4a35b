// SPDX-License-Identifier: BSD-3-Clause
// Enforcement goes on with other customers, budgets or limits.
#include "router/datapath/enforcement/enforcement.h"

namespace turnpike::router {

// Withdrawals are published in units of a burst's length.
void Enforcement::settle_units(const ChargeLimits& next) {
  const float paid = limits_.burst / next.burst,
              committed = limits_.promise_burst / next.promise_burst;
  if (workers() == 1 || (paid == 1 && committed == 1)) return;
  for (uint32_t c = 0; c < per_dollar_.size(); ++c)
    for (unsigned w = 0; w < workers(); ++w) {
      add_others(w, c, Bucket::kPaid);
      add_others(w, c, Bucket::kCommitted);
      shared(w, c).carry[static_cast<size_t>(Bucket::kPaid)] *= paid;
      shared(w, c).carry[static_cast<size_t>(Bucket::kCommitted)] *= committed;
    }
}

void Enforcement::go_on_from(Enforcement& before, const Succession& s) {
  before.settle_units(limits_);
  if (s.table != nullptr) std::swap(table_, before.table_);
  if (s.same) {
    std::swap(shards_, before.shards_);
    for (unsigned w = 0; w < workers(); ++w)
      for (const uint32_t c : s.changed) account(w, c).per_dollar = per_dollar_[c];
    return;
  }
  for (unsigned w = 0; w < workers(); ++w) {
    Shard &own = *shards_[w], &old = *before.shards_[w];
    for (uint32_t c = 1; c < s.from.size(); ++c) {
      if (s.from[c] == 0) continue;
      own.accounts[c].go_on_from(old.accounts[s.from[c]]);
      own.shared[c].go_on_from(old.shared[s.from[c]]);
    }
    const uint32_t n = old.offender_count.load(std::memory_order_relaxed);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t from = old.offenders[i];
      if (from >= s.to.size() || (from != 0 && s.to[from] == 0)) continue;
      const uint32_t c = s.to[from];
      own.offenders[kept++] = c;
      for (size_t r = 0; r < kRefusals; ++r)
        own.drops[c].packets[r].set(old.drops[from].packets[r].read());
      own.drops[c].bytes.set(old.drops[from].bytes.read());
    }
    own.offender_count.store(kept, std::memory_order_release);
  }
}

void Enforcement::add_drops(uint32_t customer, std::array<uint64_t, kRefusals>& packets,
                            uint64_t& bytes) const {
  for (const auto& shard : shards_) {
    const CustomerDrops& drops = shard->drops[customer];
    for (size_t r = 0; r < kRefusals; ++r) packets[r] += drops.packets[r].read();
    bytes += drops.bytes.read();
  }
}

}  // namespace turnpike::router
