// SPDX-License-Identifier: BSD-3-Clause
#include "sender/strategy/weighted.h"

namespace turnpike::sender {

void Weighted::joined(Member& m) {
  if (roster_.empty()) total_ = shares_ = 0;  // clears rounding errors
  m.weight = roster_.empty() ? 1 : total_ * (m.terms->share / shares_);
  roster_.add(m);
  total_ += m.weight;
  shares_ += m.terms->share;
}

void Weighted::left(Member& m) {
  roster_.remove(m);
  total_ -= m.weight;
  shares_ -= m.terms->share;
  // The rounding errors of the sum may exceed a small last weight.
  if (roster_.members().size() == 1) {
    Member& last = *roster_.members()[0];
    last.weight = total_ = 1;
    shares_ = last.terms->share;
  }
}

void Weighted::normalize() {
  double sum = 0;
  shares_ = 0;
  for (const Member* m : roster_.members()) {
    sum += m->weight;
    shares_ += m->terms->share;
  }
  for (Member* m : roster_.members()) m->weight /= sum;
  total_ = 1;
  changed();
}

}  // namespace turnpike::sender
