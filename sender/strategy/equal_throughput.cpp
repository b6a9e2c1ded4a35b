// SPDX-License-Identifier: BSD-3-Clause
#include "sender/strategy/equal_throughput.h"

namespace turnpike::sender {
namespace {

constexpr double kStep = 0.5;
constexpr int64_t kRounds = 2;
// Least weight, of what an equal one would be. A flow alone on an idle link is outrun by no price
// and would be driven down without end.
constexpr double kMin = 1e-6;

}  // namespace

Nanos EqualThroughput::review(Nanos now) {
  normalize();
  double prices = 0, having = 0;
  for (Member* m : roster().members()) {
    m->count(now);
    if (m->price <= 0) continue;  // not answered yet: keeps what it has
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
