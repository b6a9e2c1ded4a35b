// SPDX-License-Identifier: BSD-3-Clause
// Any netlink messages, as notifications and within dumps. Checks: no byte beyond a message is
// read, routes and neighbours that reach the tables can be used, counters agree with them, and
// empty dumps leave nothing.
//
// The input: steps of a byte for the action (bits 0-2), one for the length of a message in units of
// 4 B, and its bytes: type, flags, then the family header and attributes.
#include <algorithm>
#include <cstring>
#include <vector>

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>

#include "router/linux/kernel_state.h"
#include "router/linux/route_map.h"
#include "tests/fuzz/input.h"

namespace {

using namespace turnpike;
using namespace turnpike::fuzz;
using namespace turnpike::router;

constexpr size_t kLinks = 2;

class Listener final : public KernelListener {
  void link_changed(size_t link, const LinkStatus&) override {
    require(link < kLinks, "a link of the router changed");
  }
};

/// A message in memory of exactly its size.
Message message(Input& input) {
  constexpr std::array<uint16_t, 12> kTypes{
      RTM_NEWROUTE, RTM_DELROUTE, RTM_NEWLINK,  RTM_DELLINK,    RTM_NEWADDR,    RTM_DELADDR,
      RTM_NEWNEIGH, RTM_DELNEIGH, RTM_NEWROUTE, RTM_NEWNEXTHOP, RTM_DELNEXTHOP, RTM_NEWRULE};
  const size_t words = input.below(64);
  std::vector<uint32_t> bytes(sizeof(nlmsghdr) / 4 + words);
  auto* header = reinterpret_cast<nlmsghdr*>(bytes.data());
  header->nlmsg_len = static_cast<uint32_t>(bytes.size() * 4);
  header->nlmsg_type = kTypes[input.below(kTypes.size())];
  header->nlmsg_flags = static_cast<uint16_t>(input.byte() << 8);
  input.fill({reinterpret_cast<uint8_t*>(bytes.data()) + sizeof(nlmsghdr), words * 4});
  return parse_message(*header);
}

void check(const RouteMap& map, const KernelState& state) {
  const RouteCounts& counts = state.routes();
  require(counts.held[static_cast<size_t>(RouteStatus::kInstalled)] == map.routes.size(),
          "each installed route is in the table");
  uint64_t held = 0;
  for (const uint64_t n : counts.held) held += n;
  require(held == counts.ipv4 + counts.ipv6, "each route has a status");
  require(state.neighbours().told() == map.neighbours.size(), "each neighbour is in the table");
  for (const auto& [key, route] : map.routes) {
    require(route.action != Route::Action::kForward || !route.paths.empty(), "a route has paths");
    for (const Path& p : route.paths) {
      require(p.link < kLinks && p.weight > 0, "a path is over a link and has a weight");
    }
  }
  for (const auto& [key, mac] : map.neighbours) require(key.link < kLinks, "it is on a link");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  RouteMap map;
  Listener listener;
  KernelState state({map, listener, {{"a", 0}, {"b", 1}}});
  constexpr auto kKinds = static_cast<size_t>(DumpKind::kCount);
  while (!input.empty()) {
    const uint8_t what = input.byte();
    if ((what & 7) < 6) {
      state.apply(message(input));
    } else {
      const auto kind = static_cast<DumpKind>(what / 8 % kKinds);
      state.begin(kind);
      for (size_t n = input.below(4); n > 0; --n) state.apply_dumped(message(input));
      state.end(kind, (what & 1) != 0);
    }
    if ((what & 64) != 0) state.commit();
  }
  state.commit();
  check(map, state);
  for (size_t kind = 0; kind < kKinds; ++kind) {
    state.begin(static_cast<DumpKind>(kind));
    state.end(static_cast<DumpKind>(kind), true);
  }
  state.commit();
  require(map.routes.empty() && map.neighbours.empty(), "nothing is left of what was not listed");
  check(map, state);
  return 0;
}
