// SPDX-License-Identifier: BSD-3-Clause
// Hosts, with their budgets.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/units/units.h"

namespace turnpike::config {

struct BudgetChange {
  Nanos at{0};
  Budget budget{0};
};

struct Host {
  std::string name;
  Budget budget{0};                        // $/s at the start; 0: a pure receiver
  std::vector<BudgetChange> changes = {};  // in order of time
  std::string strategy = "equal-budget";
  bool external = false;  // a real machine or kernel, which the sender does not emulate
  size_t link = 0;        // its only link, index into Topology::links
  size_t end = 0;         // its end of that link
};

}  // namespace turnpike::config
