// SPDX-License-Identifier: BSD-3-Clause
#include "sender/strategy/max_min.h"

#include <algorithm>
#include <limits>

namespace turnpike::sender {
namespace {

constexpr double kMinNeed = 0.05;  // of its share
constexpr unsigned kPasses = 8;    // each finds flows that need less than an equal share

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
  double level = equal;
  for (unsigned round = 0; round < kPasses; ++round) {
    double left = budget(), eager = 0;
    for (const Member* m : members) {
      const double need = need_of(*m, equal * m->terms->share);
      if (need < level * m->terms->share) {
        left -= need;
      } else {
        eager += m->terms->share;
      }
    }
    const double next = eager > 0 ? left / eager : std::numeric_limits<double>::infinity();
    if (next <= level) break;
    level = next;
  }
  // Where all have what they need, normalize() gives them the rest in proportion.
  for (Member* m : members)
    m->weight = std::min(need_of(*m, equal * m->terms->share), level * m->terms->share);
  normalize();
  return next_review;
}

}  // namespace turnpike::sender
