// SPDX-License-Identifier: BSD-3-Clause
#include "sender/strategy/equal_throughput.h"

namespace turnpike::sender {
namespace {

constexpr double kStep = 0.5;
constexpr int64_t kRounds = 2;
// Lower bound of a weight, as a fraction of the equal one. Without it, the weight of a flow alone
// on an idle link would fall without bound, because that flow's rate does not depend on its budget.
constexpr double kMin = 1e-6;

}  // namespace

Nanos EqualThroughput::review(Nanos now) {
  normalize();
  double prices = 0, having = 0;
  for (Member* m : roster().members()) {
    m->count(now);
    if (m->price <= 0) continue;  // no feedback yet: keeps its weight
    prices += m->terms->share * m->mean_price();
    having += m->weight;
  }
  const double least = kMin / static_cast<double>(roster().members().size());
  for (Member* m : roster().members()) {
    if (m->price <= 0) continue;
    const double fair = having * m->terms->share * m->mean_price() / prices;
    m->weight = std::max(m->weight + kStep * (fair - m->weight), least);
  }
  normalize();
  roster().restart_counts(now);
  return now + roster().mean_rtt() * kRounds;
}

}  // namespace turnpike::sender
