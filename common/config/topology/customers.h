// SPDX-License-Identifier: BSD-3-Clause
// Customers and groups of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/units/units.h"

namespace turnpike::config {

/// A group of customers with a common share of each link.
struct Group {
  std::string name;
  double weight = 1;
};

inline constexpr size_t kNoIndex = SIZE_MAX;  // no such index

/// A customer of the network, known by its prefixes or by the links on which it sends.
struct Customer {
  std::string name;
  Budget budget{0};
  BitRate ceiling{0};              // of what a gateway sends for it; 0: none
  size_t group = kNoIndex;         // index into Topology::groups
  std::vector<size_t> links = {};  // indices into Topology::links, each once
};

template <class Prefix>
struct CustomerPrefix {
  Prefix prefix;
  uint32_t customer = 0;  // index into Topology::customers
};

}  // namespace turnpike::config
