// SPDX-License-Identifier: BSD-3-Clause
// Exchange rates at a link between the currencies of groups and the link's own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/protocols/fcp/header_batch.h"
#include "common/units/units.h"

namespace turnpike::fcp {

/// Each group of flows has a currency of its own. The rate of exchange makes all budgets of a group
/// together worth its weight, so that groups with demand share the link by weight, whatever their
/// budgets and numbers of flows; inside a group, flows share by budget. E_G of section 4.3:
///
///     E = weight / I      I: the group's committed budget here, $/s, averaged over `memory`
///
/// (The paper's normalisation over groups scales all prices alike, and is left out.) The average
/// decays when its group is used, so that idle groups cost nothing; rate() is O(1). Where a group
/// commits more than twice its average within a quarter of `memory`, the average begins anew: money
/// that is printed would otherwise be worth too much until the average has followed. Each shard
/// writes its own averages and reads those of other shards.
class GroupRates {
 public:
  /// No groups until set.
  GroupRates() = default;
  GroupRates(std::span<const double> weights, unsigned shards)
      : weights_(weights.begin(), weights.end()), shards_(shards) {
    groups_ = std::make_unique<Group[]>(weights.size() * shards);
  }

  /// Takes the weights of `made`, for as many shards, and keeps the averages of groups that go on.
  /// `from`: by new group the old one, or kNewGroup; empty: the groups are the same. Call while no
  /// shard is used.
  void take(GroupRates& made, std::span<const uint16_t> from) {
    const bool same = from.empty() && weights_.size() == made.weights_.size();
    for (size_t g = 0; g < from.size() && g < made.weights_.size() && !same; ++g)
      for (unsigned i = 0; i < shards_ && from[g] < weights_.size(); ++i)
        made.at(i, static_cast<unsigned>(g)).copy(at(i, from[g]));
    std::swap(weights_, made.weights_);
    if (same) return;
    std::swap(groups_, made.groups_);
    std::swap(shards_, made.shards_);
  }

  [[nodiscard]] bool empty() const { return weights_.empty(); }
  /// B per group and shard.
  static constexpr size_t state_bytes() { return sizeof(Group); }

  /// One packet's commitment, in the group's currency.
  struct Commitment {
    double dollars = 0;  // $ committed until the flow's next packet
    double budget = 0;   // $/s
    double slot = 0;     // s until the flow's next packet
  };

  /// Counts a commitment and returns the value of a unit of the group's money at the link, between
  /// HeaderBatch::kMinRate and kMaxRate. Groups beyond the last one count as group 0. `memory`: s.
  float rate(unsigned shard, unsigned group, const Commitment& made, double memory, Nanos now) {
    if (group >= weights_.size()) group = 0;
    Group& g = at(shard, group);
    const auto passed = static_cast<double>(now.count() - g.refreshed.load(kRelaxed));
    const bool idle = passed > kForget * memory * 1e9;
    if (idle && !begin(g, group, made, memory, now)) return g.rate;
    // A packet commits money until the next one, on average half a slot from now: half of it counts
    // before the average is taken. Otherwise flows with long slots would seem to commit too much.
    const double half = std::max(made.dollars, 0.0) / 2;
    const double slot = std::clamp(made.slot, 0.0, kMaxSlot);
    g.added += half;
    g.covered = std::max(g.covered, now.count() + static_cast<int64_t>(slot * 0.5e9));
    if (!idle && passed * kSteps >= memory * 1e9) refresh(shard, group, memory, now);
    g.added += half;
    ++g.packets;
    return g.rate;
  }

  /// The highest of the group's rates in the last half of a memory, at least.
  [[nodiscard]] float highest(unsigned shard, unsigned group) const {
    const Group& g = groups_[(group < weights_.size() ? group : 0) * shards_ + shard];
    return std::max({g.rate, g.highest, g.before});
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static constexpr double kForget = 16;  // memories without a packet until a group counts as idle
  static constexpr double kSteps = 32;   // refreshes per memory
  static constexpr double kMaxSlot = 4;  // s
  static constexpr unsigned kTickShift = 14;  // of ns; ticks wrap around after 19 h
  static constexpr double kTick = (1 << kTickShift) * 1e-9;
  // `recent` forgets as fast as so many averages, and counts from so many packets on where it
  // exceeds the average by this factor.
  static constexpr double kFaster = 4;
  static constexpr float kMany = 8;
  static constexpr double kJump = 2;

  struct alignas(64) Group {
    std::atomic<double> budget{0};  // $/s as of `refreshed`
    std::atomic<int64_t> refreshed{-(int64_t{1} << 62)};
    double added = 0;     // $ committed since then
    int64_t started = 0;  // ns, when the group became active
    int64_t covered = 0;  // ns, until when its packets have committed
    float rate = HeaderBatch::kMaxRate;
    float highest = 0, before = 0;  // of the rates in this half of a memory, and in the last one
    float recent = 0;               // $/s, average over memory / kFaster
    float packets = 0;              // in the time of `recent`
    uint32_t turned = 0;            // tick when this half began

    void copy(const Group& from) {
      budget.store(from.budget.load(kRelaxed), kRelaxed);
      refreshed.store(from.refreshed.load(kRelaxed), kRelaxed);
      added = from.added;
      started = from.started;
      covered = from.covered;
      rate = from.rate;
      highest = from.highest;
      before = from.before;
      recent = from.recent;
      packets = from.packets;
      turned = from.turned;
    }
  };
  static_assert(sizeof(Group) == 64);

  Group& at(unsigned shard, unsigned group) { return groups_[group * shards_ + shard]; }

  // A group becomes active: only its first packet says what it commits. False: it says nothing.
  bool begin(Group& g, unsigned group, const Commitment& made, double memory, Nanos now) {
    const double others = budget_elsewhere(&g, group, memory, now);
    const double budget = others > 0 ? others : made.budget;
    if (!(budget > 0)) return false;
    start(g, group, budget, now);
    return true;
  }

  void start(Group& g, unsigned group, double budget, Nanos now) {
    g.rate = rate_of(group, budget);
    g.budget.store(0, kRelaxed);
    g.added = 0;
    g.recent = g.packets = 0;
    g.started = g.covered = now.count();
    g.refreshed.store(now.count(), kRelaxed);
  }

  void refresh(unsigned shard, unsigned group, double memory, Nanos now) {
    Group& g = at(shard, group);
    const double passed = static_cast<double>(now.count() - g.refreshed.load(kRelaxed)) * 1e-9;
    const double kept = std::exp(-passed / memory / 2);  // of what was added, on average
    const double budget = g.budget.load(kRelaxed) * kept * kept + g.added * kept / memory;
    static_assert(kFaster == 4);
    const double kept_recent = kept * kept * kept * kept;
    const double decay = kept_recent * kept_recent;
    g.recent = static_cast<float>(g.recent * decay + g.added * kept_recent * kFaster / memory);
    const auto tick = static_cast<uint32_t>(now.count() >> kTickShift);
    if (static_cast<double>(tick - g.turned) * kTick > memory / 2) {
      g.before = std::exchange(g.highest, 0.0F);
      g.turned = tick;
    }
    g.highest = std::max(g.highest, g.rate);
    // The average of a young group has not risen yet to what it commits.
    const double age = static_cast<double>(std::max(g.covered, now.count()) - g.started) * 1e-9;
    const double own = budget / -std::expm1(-age / memory);
    const double elsewhere = budget_elsewhere(&g, group, memory, now);
    const bool many = g.packets >= kMany;
    g.packets *= static_cast<float>(decay);
    if (many && g.recent > kJump * own) {
      start(g, group, std::max<double>(g.recent, g.added / passed) + elsewhere, now);
      return;
    }
    g.budget.store(budget, kRelaxed);
    g.refreshed.store(now.count(), kRelaxed);
    g.added = 0;
    if (own + elsewhere > 0) g.rate = rate_of(group, own + elsewhere);
  }

  double budget_elsewhere(const Group* own, unsigned group, double memory, Nanos now) {
    double sum = 0;
    for (unsigned i = 0; i < shards_; ++i) {
      const Group& other = at(i, group);
      if (&other == own) continue;
      const int64_t passed = now.count() - other.refreshed.load(kRelaxed);
      const double memories = static_cast<double>(passed) * 1e-9 / memory;
      if (memories < kForget) sum += other.budget.load(kRelaxed) * std::exp(-memories);
    }
    return sum;
  }

  [[nodiscard]] float rate_of(unsigned group, double budget) const {
    return static_cast<float>(
        std::clamp<double>(weights_[group] / budget, HeaderBatch::kMinRate, HeaderBatch::kMaxRate));
  }

  std::vector<double> weights_;  // $/s of the link's currency
  unsigned shards_ = 0;
  std::unique_ptr<Group[]> groups_;  // by group, then shard
};

}  // namespace turnpike::fcp
