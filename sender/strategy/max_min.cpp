// SPDX-License-Identifier: BSD-3-Clause
#include "sender/strategy/max_min.h"

#include <algorithm>
#include <limits>

#include "common/units/max_min.h"

namespace turnpike::sender {
namespace {

constexpr double kMinNeed = 0.05;  // of its share

/// $/s; infinite before the first feedback.
double need_of(const Member& m, double share) {
  if (m.price <= 0) return std::numeric_limits<double>::infinity();
  return std::max(m.demand * m.price, kMinNeed * share);
}

}  // namespace

Nanos MaxMin::review(Nanos now) {
  const Nanos next_review = now + roster().mean_rtt();
  if (budget() <= 0) return next_review;  // nothing to divide: no weight would be left
  const auto members = roster().members();
  double shares = 0;
  for (const Member* m : members) shares += m->terms->share;
  const double equal = budget() / shares;  // $/s for a share of 1
  const auto share = [](const Member* m) { return m->terms->share; };
  const auto need = [&](const Member* m) { return need_of(*m, equal * share(m)); };
  const double level = max_min_level(members, budget(), need, share);
  // Where all have what they need, normalize() gives them the rest in proportion.
  for (Member* m : members) m->weight = std::min(need(m), level * share(m));
  normalize();
  return next_review;
}

}  // namespace turnpike::sender
