// SPDX-License-Identifier: BSD-3-Clause
// Legacy: traffic without prices, with a guaranteed share of the link and queue management.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "common/protocols/aqm/params.h"
#include "common/protocols/link_class.h"
#include "common/protocols/link_law.h"
#include "common/protocols/relaxed.h"
#include "common/protocols/shard_sums.h"
#include "common/protocols/tcp/link.h"

namespace turnpike::fcp {

/// A legacy class's queue discipline and load. The load, up to the class's share, is taken off the
/// capacity that FCP prices: FCP leaves the class its share if it wants it, and takes what it does
/// not use. Beyond the share the class takes only what FCP leaves, by the scheduler's weights.
class Legacy {
 public:
  Legacy(const ClassRule& rule, unsigned shards, uint64_t seed)
      : share_(rule.share), law_(make_law(rule, shards, seed)), bytes_(shards) {}

  void set_share(double share) { share_ = share; }

  /// The class's law: never reads a header, since the class's packets need not be TCP's.
  [[nodiscard]] LinkLaw& law() { return *law_; }
  /// Call after the law's decision.
  void count(unsigned shard, std::span<const LinkPacket> burst) {
    double sum = 0;
    for (const LinkPacket& p : burst)
      if (p.admitted && p.action != AqmAction::kDrop) sum += p.size;
    if (sum > 0) bytes_.add(shard, {sum});
  }
  /// Averages the load. Owner only, about every kInterval.
  void update(Nanos now) {
    const double passed = to_seconds(now - last_);
    if (passed <= 0) return;
    last_ = now;
    const double sample = bytes_.take()[0] / passed;
    const double gain = -std::expm1(-passed / kMemory);
    write(load_, read(load_) + gain * (sample - read(load_)));
  }
  /// B/s taken off the capacity of FCP's classes.
  [[nodiscard]] double taken(double capacity) const {
    return std::min(read(load_), share_ * capacity);
  }
  [[nodiscard]] double load() const { return read(load_); }  // B/s
  [[nodiscard]] double share() const { return share_; }

 private:
  static constexpr double kMemory = 0.05;  // s

  static std::unique_ptr<LinkLaw> make_law(const ClassRule& rule, unsigned shards, uint64_t seed) {
    ParamValues params(aqm::kLinkParams);
    params[aqm::kDiscipline] = static_cast<double>(
        rule.discipline == LegacyQueue::kRed ? aqm::Discipline::kRed : aqm::Discipline::kDropTail);
    return tcp::make_link(params, shards, seed);
  }

  double share_;
  std::unique_ptr<LinkLaw> law_;
  ShardSums<1> bytes_;
  Nanos last_{0};                // of update()
  std::atomic<double> load_{0};  // the owner writes
};

}  // namespace turnpike::fcp
