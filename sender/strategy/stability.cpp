// SPDX-License-Identifier: BSD-3-Clause
#include "sender/strategy/stability.h"

namespace turnpike::sender {

// A member's weight is what its rate costs in $/s, or 0 if it takes its share of the rest. A flow
// that is to hold a rate is one of these until it knows the price.
void Stability::joined(Member& m) {
  if (roster_.empty()) wanted_ = shares_ = others_ = 0;  // exactly, whatever rounding has left
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
