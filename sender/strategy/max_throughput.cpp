// SPDX-License-Identifier: BSD-3-Clause
#include "sender/strategy/max_throughput.h"

#include <cmath>

namespace turnpike::sender {

void MaxThroughput::joined(Member& m) {
  Weighted::joined(m);
  start_over();
}

void MaxThroughput::left(Member& m) {
  Weighted::left(m);
  start_over();
}

void MaxThroughput::start_over() {
  stage_ = Stage::kFresh;
  trial_ = Trial::kNone;
}

Nanos MaxThroughput::review(Nanos now) {
  const Nanos rtt = roster().mean_rtt();
  switch (stage_) {
    case Stage::kFresh:
      stage_ = Stage::kSettling;
      return now + rtt * kSettleAtFirst;
    case Stage::kSettling:
      stage_ = Stage::kMeasuring;
      roster().restart_counts(now);
      measured_from_ = now;
      return now + rtt;
    default:
      stage_ = Stage::kSettling;
      double bytes = 0;
      for (Member* m : roster().members()) {
        m->count(now);
        bytes += m->bytes;
      }
      compare(bytes / to_seconds(now - measured_from_));
      return now + rtt * kSettle;
  }
}

void MaxThroughput::compare(double throughput) {
  if (roster().members().size() < 2) return;
  switch (trial_) {
    case Trial::kNone:
      normalize();
      best_ = at_round_start_ = throughput;
      current_ = 0;
      attempt(Trial::kMore, 1 + kTrial);
      return;
    case Trial::kMore:
    case Trial::kLess:
      if (throughput > best_) {
        best_ = throughput;
      } else {
        undo();
        if (trial_ == Trial::kMore) return attempt(Trial::kLess, 1 - kTrial);
      }
      return next_flow();
    case Trial::kResting:
      if (resting_.empty()) {
        for (const Member* m : roster().members()) resting_.push_back(m->mean_price());
      } else if (prices_moved()) {
        trial_ = Trial::kNone;
      }
  }
}

void MaxThroughput::attempt(Trial trial, double factor) {
  trial_ = trial;
  const auto members = roster().members();
  before_.clear();
  for (const Member* m : members) before_.push_back(m->weight);

  const auto count = static_cast<double>(members.size());
  const double least = std::min(kMin, 0.5 / count);
  Member& chosen = *members[current_];
  const double had = chosen.weight;
  chosen.weight = std::clamp(had * factor, least, 1 - (count - 1) * least);
  double above = 0;
  for (Member* m : members) {
    if (m == &chosen) continue;
    m->weight *= (1 - chosen.weight) / (1 - had);
    above += std::max(m->weight - least, 0.0);
  }
  // Raise weights below `least` to it, at the expense of the weights above it.
  const double left = 1 - chosen.weight - (count - 1) * least;
  for (Member* m : members) {
    if (m == &chosen) continue;
    const double mine = std::max(m->weight - least, 0.0);
    m->weight = least + left * (above > 0 ? mine / above : 1 / (count - 1));
  }
  normalize();
}

void MaxThroughput::undo() {
  const auto members = roster().members();
  for (size_t i = 0; i < members.size(); ++i) members[i]->weight = before_[i];
  normalize();
}

void MaxThroughput::next_flow() {
  if (++current_ < roster().members().size()) {
    attempt(Trial::kMore, 1 + kTrial);
  } else if (best_ < at_round_start_ * (1 + kEnough)) {
    trial_ = Trial::kResting;
    resting_.clear();
  } else {
    trial_ = Trial::kNone;
  }
}

bool MaxThroughput::prices_moved() const {
  const auto members = roster().members();
  for (size_t i = 0; i < members.size(); ++i) {
    if (std::fabs(members[i]->mean_price() - resting_[i]) > kPriceMoved * resting_[i]) return true;
  }
  return false;
}

}  // namespace turnpike::sender
