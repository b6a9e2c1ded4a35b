// SPDX-License-Identifier: BSD-3-Clause
// Reads the multicast groups that the kernel has joined on its interfaces.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "router/datapath/punt/joined_groups.h"
#include "router/linux/file.h"

namespace turnpike::router {

/// Used by the control thread: read() makes system calls. The kernel reports IPv4 memberships in
/// /proc only (until Linux 6.14 no netlink message has them).
class MulticastGroups {
 public:
  /// `interfaces`: by link of the router; `network_namespace`: theirs.
  static tl::expected<MulticastGroups, std::string> open(std::vector<std::string> interfaces,
                                                         const std::string& network_namespace);
  /// The groups at present; of a file that cannot be read, none.
  [[nodiscard]] JoinedGroups read() const;

 private:
  MulticastGroups() = default;
  std::vector<std::string> interfaces_;
  File igmp_, igmp6_;  // none: no such protocol in the kernel
};

/// Adds groups from the text of /proc/net/igmp and /proc/net/igmp6; sorts them.
JoinedGroups parse_groups(std::string_view igmp, std::string_view igmp6,
                          std::span<const std::string> interfaces);

}  // namespace turnpike::router
