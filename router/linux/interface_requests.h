// SPDX-License-Identifier: BSD-3-Clause
// Requests to the kernel about interfaces and their addresses, each answered before it returns
// (rtnetlink(7)).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "router/control/route_sink.h"

struct mnl_socket;

namespace turnpike::router {

/// An interface with an alias, a text that its owner may give it (`ip link` shows it).
struct AliasedInterface {
  unsigned index = 0;
  std::string name, alias;
};

/// In the network namespace in which it was opened. Errors are those of errno(3).
class InterfaceRequests {
 public:
  static tl::expected<InterfaceRequests, int> open();

  /// All interfaces that have an alias.
  tl::expected<std::vector<AliasedInterface>, int> aliased();
  /// At most 255 characters.
  tl::expected<void, int> set_alias(unsigned interface, const std::string& alias);
  /// Succeeds also if the interface has the address already. The kernel adds a route to its subnet.
  tl::expected<void, int> add(unsigned interface, const Prefix& address);
  /// Succeeds also if it has not.
  tl::expected<void, int> remove(unsigned interface, const Prefix& address);

 private:
  struct Close {
    void operator()(mnl_socket* socket) const;
  };
  explicit InterfaceRequests(mnl_socket* socket) : socket_(socket) {}
  template <class Header, class Fill, class Use>
  tl::expected<void, int> request(int type, int flags, const Header& header, Fill&& fill,
                                  Use&& use);
  tl::expected<void, int> change_address(int type, int flags, unsigned interface,
                                         const Prefix& address);

  std::unique_ptr<mnl_socket, Close> socket_;
  uint32_t sequence_ = 0;
};

}  // namespace turnpike::router
