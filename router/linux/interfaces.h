// SPDX-License-Identifier: BSD-3-Clause
// The kernel's interfaces and their addresses; those that mirror links of the router are known by
// their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "router/linux/messages.h"

namespace turnpike::router {

/// A link's interface, as the kernel has it.
struct LinkStatus {
  bool present = false;
  bool up = false;  // by the administrator
  bool carrier = false;
  uint32_t mtu = 0;  // B
  config::Mac mac{};
  bool operator==(const LinkStatus&) const = default;
};

class Interfaces {
 public:
  struct Interface {
    std::string name;
    LinkStatus status;
    std::optional<size_t> link;  // among the router's; none: not one of ours
    bool loopback = false;
    uint32_t generation = 0;
  };
  /// Name of a mirrored interface -> index of its link.
  using Names = std::map<std::string, size_t>;

  explicit Interfaces(Names names) : names_(std::move(names)) {}

  /// Other names from now on.
  void set_names(Names names);
  [[nodiscard]] const Names& names() const { return names_; }

  /// Adds or changes an interface; returns its former state, if there was one.
  std::optional<Interface> set(const LinkMessage& message, uint32_t generation);
  /// Returns whether it was there.
  bool erase(uint32_t interface);
  /// nullptr: unknown.
  [[nodiscard]] const Interface* find(uint32_t interface) const;
  /// The kernel's index of a link's interface; 0: it has none now.
  [[nodiscard]] uint32_t of_link(size_t link) const;
  /// Whether packets may leave by it.
  [[nodiscard]] bool usable(uint32_t interface) const;
  [[nodiscard]] const std::unordered_map<uint32_t, Interface>& all() const { return all_; }

 private:
  Names names_;
  std::unordered_map<uint32_t, Interface> all_;
};

}  // namespace turnpike::router
