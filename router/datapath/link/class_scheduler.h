// SPDX-License-Identifier: BSD-3-Clause
// Selects the class that sends next: strict priority first, then shares by weight.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "common/protocols/link_law.h"

namespace turnpike::router {

/// Start-time fair queueing (Goyal, Vin, Cheng 1996): every member has a virtual start time of its
/// next packet; a packet of s bytes advances it by s/weight, and the smallest start time goes
/// first. A member without packets restarts at the present virtual time, so that it gains no
/// credit.
class FairQueue {
 public:
  /// Infinity: strict priority over finite weights. Applies to packets served from now on.
  void set_weight(unsigned i, double weight) {
    const uint32_t bit = uint32_t{1} << i;
    strict_ = std::isinf(weight) ? strict_ | bit : strict_ & ~bit;
    inverse_[i] = 1 / weight;
  }

  /// Returns a member of `waiting`, a set of bits that is not empty.
  [[nodiscard]] unsigned pick(uint32_t waiting) const {
    const uint32_t first = waiting & strict_;
    auto best = static_cast<unsigned>(std::countr_zero(first != 0 ? first : waiting));
    if (first != 0) return best;
    double earliest = start(best);
    for (uint32_t left = waiting & (waiting - 1); left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      if (start(i) >= earliest) continue;
      best = i;
      earliest = start(i);
    }
    return best;
  }

  /// Call after member `i` has sent `bytes`.
  void served(unsigned i, double bytes) {
    if ((strict_ >> i & 1) != 0) return;
    present_ = start(i);
    start_[i] = present_ + bytes * inverse_[i];
    if (present_ > kRestart) restart();
  }

 private:
  static constexpr double kRestart = 1e12;  // keeps the precision of a thousandth of a byte

  [[nodiscard]] double start(unsigned i) const { return std::max(start_[i], present_); }
  void restart() {
    for (double& s : start_) s = std::max(s - present_, 0.0);
    present_ = 0;
  }

  uint32_t strict_ = 0;  // bit i: member i has strict priority
  double present_ = 0;   // virtual time: start of the packet in service, B/weight
  std::array<double, kMaxClasses> inverse_ = [] {
    std::array<double, kMaxClasses> all;
    all.fill(1);
    return all;
  }();
  std::array<double, kMaxClasses> start_{};
};

/// A link's classes, in a tree: parents share the link by their weights, and the classes of a
/// parent share what it gets. Without parents all classes have one.
class ClassScheduler {
 public:
  /// Among the classes of the same parent.
  void set_weight(unsigned c, double weight) { classes_[parent_[c]].set_weight(c, weight); }
  /// Call before the first packet. `parent`: below kMaxClasses; its weight among parents.
  void set_parent(unsigned c, unsigned parent, double weight) {
    several_ = true;
    members_[parent_[c]] &= ~(uint32_t{1} << c);
    members_[parent] |= uint32_t{1} << c;
    parent_[c] = static_cast<uint8_t>(parent);
    parents_.set_weight(parent, weight);
  }

  /// Returns a class of `waiting`, a set of bits that is not empty.
  [[nodiscard]] unsigned pick(uint32_t waiting) const {
    if (!several_) return classes_[0].pick(waiting);
    uint32_t parents = 0;
    for (uint32_t left = waiting; left != 0; left &= left - 1)
      parents |= uint32_t{1} << parent_[static_cast<unsigned>(std::countr_zero(left))];
    const unsigned parent = parents_.pick(parents);
    return classes_[parent].pick(waiting & members_[parent]);
  }

  /// Call after class `c` has sent `bytes`.
  void served(unsigned c, double bytes) {
    if (several_) parents_.served(parent_[c], bytes);
    classes_[parent_[c]].served(c, bytes);
  }

 private:
  bool several_ = false;                                     // parents
  std::array<uint8_t, kMaxClasses> parent_{};                // by class
  std::array<uint32_t, kMaxClasses> members_{~uint32_t{0}};  // sets of classes, by parent
  FairQueue parents_;
  std::array<FairQueue, kMaxClasses> classes_;  // by parent
};

}  // namespace turnpike::router
