// SPDX-License-Identifier: BSD-3-Clause
#include "sender/strategy/stability.h"

namespace turnpike::sender {

// A member's weight is the cost of its held rate in $/s; 0: it receives its share of the rest. A
// flow that holds a rate has weight 0 until it knows the price.
void Stability::joined(Member& m) {
  if (roster_.empty()) wanted_ = shares_ = others_ = 0;  // clears rounding errors
  m.weight = 0;
  roster_.add(m);
  shares_ += m.terms->share;
  others_ += m.terms->share;
}

void Stability::left(Member& m) {
  roster_.remove(m);
  shares_ = std::max(shares_ - m.terms->share, 0.0);
  if (m.weight > 0) {
    wanted_ = std::max(wanted_ - m.weight, 0.0);
  } else {
    others_ = std::max(others_ - m.terms->share, 0.0);
  }
}

Nanos Stability::review(Nanos now) {
  wanted_ = shares_ = others_ = 0;
  for (Member* m : roster_.members()) {
    m->weight = m->terms->hold * m->price;
    wanted_ += m->weight;
    shares_ += m->terms->share;
    if (m->weight <= 0) others_ += m->terms->share;
  }
  changed();
  return now + roster_.mean_rtt();
}

double Stability::held() const {
  return std::min(wanted_, budget() * (1 - kKept * std::min(others_ / shares_, 1.0)));
}

Budget Stability::part(const Member& m) const {
  if (m.weight > 0) return Budget(held() * std::min(m.weight / wanted_, 1.0));
  return Budget((budget() - held()) * std::min(m.terms->share / others_, 1.0));
}

}  // namespace turnpike::sender
