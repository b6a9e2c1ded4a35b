// SPDX-License-Identifier: BSD-3-Clause
// Watches the links of a program's ports while it runs, and reconnects memif clients.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/dpdk/port.h"
#include "common/units/units.h"

namespace turnpike {

/// Belongs to the control thread; lcores do not notice it.
class LinkMonitor {
 public:
  struct Link {
    std::string name;
    Port* port = nullptr;
  };
  /// Links count as being in the state in which they are now: only changes are reported.
  explicit LinkMonitor(std::vector<Link> links);

  /// Call it every 10 to 20 ms. A line for each change since the last call, without its end.
  std::vector<std::string> poll(Nanos now);

  /// Links that the last call found up again after they had been down, as indices.
  [[nodiscard]] std::span<const size_t> restored() const { return restored_; }
  /// Names of the links that are down, with commas; empty: none is.
  [[nodiscard]] std::string down() const;
  /// Why the program cannot go on, if a kernel interface is gone; empty as a rule.
  [[nodiscard]] const std::string& fatal() const { return fatal_; }

 private:
  struct Watched {
    Link link;
    bool up = false;
    bool carrier = true;
    Nanos since{0};  // when it went down
  };
  void check(Watched& w, size_t index, Nanos now, std::vector<std::string>& lines);

  std::vector<Watched> links_;
  std::vector<size_t> restored_;
  std::string fatal_;
  unsigned calls_ = 0;
};

}  // namespace turnpike
