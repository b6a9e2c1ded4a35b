// SPDX-License-Identifier: BSD-3-Clause
// A class of traffic on a link, as a law sees it: its pricing policy and its share of the link.
#pragma once

#include <cstdint>
#include <string>

namespace turnpike {

/// How a class's packets are priced. Classes of all policies may share a link.
enum class PricingPolicy : uint8_t {
  kStandard,   // the link's price
  kStability,  // the link's price, changing at most by `factor` within two average round trips
  kDeadline,   // a fixed price while the rates asked for fit under `cap`
  kPriority,   // `factor` times the link's price
  kLegacy,     // no price: a guaranteed share and queue management
};

/// The queue discipline of a legacy class.
enum class LegacyQueue : uint8_t { kDropTail, kRed };

/// A class's rule for the link's law. The classes of a link are numbered as the link's file lists
/// them; the last one takes all packets that no other matches, and its policy is kStandard.
struct ClassRule {
  std::string name;
  PricingPolicy policy = PricingPolicy::kStandard;
  double factor = 2;  // kStability: bound of a change; kPriority: multiple of the price
  double cap = 0;     // kDeadline: B/s that flows may be granted together
  double price = 0;   // kDeadline: $/B, fixed
  double share = 0;   // kLegacy: guaranteed, of the link
  double weight = 0;  // in the link's scheduler; 0: by policy; infinity: strict priority
  LegacyQueue discipline = LegacyQueue::kRed;
  // In a tree of classes: the outer class, counted from 0 in the file's order, and its weight among
  // outer classes. Without a tree all classes have one.
  unsigned parent = 0;
  double parent_weight = 1;
};

}  // namespace turnpike
