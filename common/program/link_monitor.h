// SPDX-License-Identifier: BSD-3-Clause
// Watches the links of a program's ports, and reconnects memif clients.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/dpdk/port.h"
#include "common/program/link_changes.h"
#include "common/units/units.h"

namespace turnpike {

/// Used by the control thread; lcores are not affected.
class LinkMonitor {
 public:
  struct Link {
    std::string name;
    Port* port = nullptr;
  };
  /// The present state of each link is the reference: changes are reported, and at first the links
  /// of ports that have no carrier.
  explicit LinkMonitor(std::vector<Link> links);

  /// Call every 10 to 20 ms. Returns lines, without newline, about changes; see LinkChanges.
  std::vector<std::string> poll(Nanos now);

  /// Indices of links that the last call found up again after they had been down.
  [[nodiscard]] std::span<const size_t> restored() const { return restored_; }
  /// Whether the last call, or at first the constructor, found the link up. `link`: index.
  [[nodiscard]] bool up(size_t link) const { return links_[link].up && links_[link].carrier; }
  /// Names of the links that are down, separated by commas; empty: none.
  [[nodiscard]] std::string down() const;
  /// The reason why the program cannot go on (a kernel interface or a NIC is gone); empty: none.
  [[nodiscard]] const std::string& fatal() const { return fatal_; }

 private:
  struct Watched {
    Link link;
    bool up = false;
    bool carrier = true;
    LinkChanges changes;
  };
  void check(Watched& w, size_t index, Nanos now, std::vector<std::string>& lines);

  std::vector<Watched> links_;
  std::vector<size_t> restored_;
  std::string fatal_;
  unsigned calls_ = 0;
};

}  // namespace turnpike
