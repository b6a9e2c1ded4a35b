// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/routes.h"

#include <rte_jhash.h>

namespace turnpike::router {

const NextHop& Routes::find(uint32_t address) const {
  const NextHop* hop = hops_.data();
  find(std::span(&address, 1), &hop);
  if (hop->action != NextHop::Action::kPaths) return *hop;
  return choose(*hop, rte_jhash_1word(address, 0));
}

const NextHop& Routes::find(const config::Ipv6& address) const {
  const NextHop* hop = hops_.data();
  find(std::span(&address, 1), &hop);
  if (hop->action != NextHop::Action::kPaths) return *hop;
  return choose(*hop, rte_jhash(address.data(), address.size(), 0));
}

}  // namespace turnpike::router
