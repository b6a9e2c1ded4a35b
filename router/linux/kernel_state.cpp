// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/kernel_state.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <linux/rtnetlink.h>

namespace turnpike::router {

KernelState::KernelState(const Parts& parts)
    : sink_(parts.sink),
      listener_(parts.listener),
      interfaces_(parts.interfaces),
      neighbours_(parts.sink, interfaces_),
      routes_(parts.sink, interfaces_, nexthops_, parts.distances) {}

void KernelState::apply(const Message& message) {
  if (const auto* link = std::get_if<LinkMessage>(&message)) {
    apply_link(*link);
    if (!link->removed && !(link->up && link->carrier)) forget_nexthops(link->interface);
  } else if (const auto* address = std::get_if<AddressMessage>(&message)) {
    apply_address(*address);
  } else if (const auto* neighbour = std::get_if<NeighbourMessage>(&message)) {
    neighbours_.apply(*neighbour, generation_);
  } else if (const auto* nexthop = std::get_if<NexthopMessage>(&message)) {
    apply_nexthop(*nexthop);
  } else if (const auto* route = std::get_if<RouteMessage>(&message)) {
    if (!routes_.apply(*route)) doubt(ResyncReason::kAmbiguous);
  }
}

void KernelState::begin(DumpKind kind) {
  ++generation_;
  // Routes of the dump see the interfaces and objects that were dumped before.
  if (kind == DumpKind::kIpv4Routes) refresh_changed();
}

void KernelState::apply_dumped(const Message& message) {
  if (const auto* route = std::get_if<RouteMessage>(&message)) {
    routes_.apply_dumped(*route, generation_);
  } else if (const auto* link = std::get_if<LinkMessage>(&message)) {
    apply_link(*link);
  } else {
    apply(message);
  }
}

void KernelState::end(DumpKind kind, bool complete) {
  if (!complete) return;
  switch (kind) {
    case DumpKind::kLinks: {
      std::vector<uint32_t> gone;
      for (const auto& [index, interface] : interfaces_.all()) {
        if (interface.generation != generation_) gone.push_back(index);
      }
      for (const uint32_t index : gone) remove_interface(index);
      break;
    }
    case DumpKind::kAddresses:
      for (auto& [interface, own] : addresses_) {
        std::erase_if(own, [this](const auto& a) { return a.second != generation_; });
      }
      break;
    case DumpKind::kNexthops:
      take(nexthops_.sweep(generation_));
      break;
    case DumpKind::kNeighbours:
      neighbours_.sweep(generation_);
      break;
    case DumpKind::kIpv4Routes:
      routes_.sweep(false, generation_);
      break;
    case DumpKind::kIpv6Routes:
      routes_.sweep(true, generation_);
      break;
    case DumpKind::kCount:
      break;
  }
}

void KernelState::tell_link(const Interfaces::Interface& interface) {
  if (interface.link) listener_.link_changed(*interface.link, interface.status);
}

void KernelState::apply_link(const LinkMessage& message) {
  if (message.removed) return remove_interface(message.interface);
  const auto before = interfaces_.set(message, generation_);
  const Interfaces::Interface& now = *interfaces_.find(message.interface);
  if (!before || before->link != now.link) {
    if (before && before->link) listener_.link_changed(*before->link, LinkStatus{});
    tell_link(now);
    changed_interfaces_.insert(message.interface);
    changed_links_ |= before && before->link != now.link;
    // Neighbours may have been listed before their interface.
    if (now.link) changed_links_ = true;
    return;
  }
  if (before->status == now.status) return;
  tell_link(now);
  const bool was_up = before->status.up, had_carrier = before->status.carrier;
  if (was_up == now.status.up && had_carrier == now.status.carrier) return;
  changed_interfaces_.insert(message.interface);
  if (was_up && !now.status.up) {
    doubt(ResyncReason::kLinkDown);
    purge_interface(message.interface);
  } else if (had_carrier && !now.status.carrier) {
    doubt(ResyncReason::kLinkDown);
    forget_nexthops(message.interface);
  }
}

// The kernel removes an interface's nexthop objects before it reports that the carrier is gone, but
// a while after dumps show that. A dump in between lists them once more, and the report is no
// change.
void KernelState::forget_nexthops(uint32_t interface) {
  const Nexthops::Change change = nexthops_.erase_interface(interface);
  if (!change.removed.empty()) doubt(ResyncReason::kLinkDown);
  take(change);
}

void KernelState::purge_interface(uint32_t interface) {
  take(nexthops_.erase_interface(interface));
  // Routes to own addresses remain with an IPv4 address, but not with an IPv6 one.
  routes_.purge(
      false, [&](const KernelRoute& r) { return r.type != RTN_LOCAL && dies_with(r, interface); });
  routes_.purge(true, [&](const KernelRoute& r) { return dies_with(r, interface); });
}

bool KernelState::dies_with(const KernelRoute& route, uint32_t interface) const {
  // The kernel removes a route of several next hops with the last of them (fib_sync_down_dev).
  const auto is_down = [&](const Hop& hop) {
    const Interfaces::Interface* found = interfaces_.find(hop.interface);
    return hop.interface == interface || found == nullptr || !found->status.up;
  };
  return std::any_of(route.hops->begin(), route.hops->end(),
                     [&](const Hop& h) { return h.interface == interface; }) &&
         std::all_of(route.hops->begin(), route.hops->end(), is_down);
}

void KernelState::remove_interface(uint32_t interface) {
  const Interfaces::Interface* found = interfaces_.find(interface);
  if (found == nullptr) return;
  const std::optional<size_t> link = found->link;
  interfaces_.erase(interface);
  if (link) listener_.link_changed(*link, LinkStatus{});
  addresses_.erase(interface);
  neighbours_.erase_interface(interface);
  doubt(ResyncReason::kLinkDown);
  purge_interface(interface);
  changed_interfaces_.insert(interface);
}

bool KernelState::has_ipv4(const OwnAddresses& own) {
  return std::any_of(own.begin(), own.end(), [](const auto& a) {
    return std::holds_alternative<config::Ipv4>(a.first.address);
  });
}

void KernelState::apply_address(const AddressMessage& message) {
  const OwnAddress address{message.address, message.length};
  if (message.removed) {
    remove_address(message.interface, address);
    return;
  }
  auto& own = addresses_[message.interface];
  // The first address revives next hops (fib_sync_up).
  if (std::holds_alternative<config::Ipv4>(message.address) && !has_ipv4(own)) {
    doubt(ResyncReason::kAddressChanged);
  }
  own[address] = generation_;
}

void KernelState::remove_address(uint32_t interface, const OwnAddress& address) {
  const auto own = addresses_.find(interface);
  if (own == addresses_.end() || own->second.erase(address) == 0) return;
  const auto* v4 = std::get_if<config::Ipv4>(&address.address);
  if (v4 == nullptr) return;  // all IPv6 routes that vanish are announced
  // With its address go the routes that prefer it as their source (fib_sync_down_addr), and with
  // the last address all routes over the interface (fib_disable_ip).
  routes_.purge(false, [v4](const KernelRoute& r) { return r.source == *v4; });
  if (!has_ipv4(own->second)) {
    routes_.purge(false, [&](const KernelRoute& r) {
      return r.type != RTN_LOCAL && dies_with(r, interface);
    });
  }
  doubt(ResyncReason::kAddressChanged);
}

void KernelState::apply_nexthop(const NexthopMessage& message) {
  if (!message.removed) return take(nexthops_.set(message, generation_));
  take(nexthops_.erase(message.id));
}

void KernelState::take(const Nexthops::Change& change) {
  for (const uint32_t id : change.changed) {
    if (routes_.uses_nexthop(id)) changed_nexthops_.insert(id);
  }
  bool used = false;
  for (const uint32_t id : change.removed) used |= routes_.uses_nexthop(id);
  if (!used) return;
  const auto gone = [&](const KernelRoute& r) {
    return std::find(change.removed.begin(), change.removed.end(), r.nexthop) !=
           change.removed.end();
  };
  routes_.purge(false, gone);
  routes_.purge(true, gone);
  doubt(ResyncReason::kNexthopRemoved);
}

bool KernelState::concerned(const KernelRoute& route) const {
  if (route.nexthop != 0) {
    // Objects may be over any interface.
    return !changed_interfaces_.empty() || changed_nexthops_.contains(route.nexthop);
  }
  return std::any_of(route.hops->begin(), route.hops->end(), [this](const Hop& hop) {
    return changed_interfaces_.contains(hop.interface);
  });
}

void KernelState::set_interfaces(Interfaces::Names names) {
  const auto before = interfaces_.all();
  interfaces_.set_names(std::move(names));
  for (const auto& [index, interface] : interfaces_.all()) {
    const std::optional<size_t> was = before.at(index).link;
    if (was == interface.link) continue;
    if (was) listener_.link_changed(*was, LinkStatus{});
    tell_link(interface);
    changed_interfaces_.insert(index);
    changed_links_ = true;
  }
}

void KernelState::refresh_changed() {
  if (changed_interfaces_.empty() && changed_nexthops_.empty()) return;
  routes_.refresh([this](const KernelRoute& r) { return concerned(r); });
  changed_interfaces_.clear();
  changed_nexthops_.clear();
}

void KernelState::commit() {
  refresh_changed();
  if (std::exchange(changed_links_, false)) neighbours_.refresh();
  const bool routes = routes_.take_changed(), neighbours = neighbours_.take_changed();
  if (routes || neighbours) sink_.commit();
}

size_t KernelState::addresses() const {
  size_t n = 0;
  for (const auto& [interface, own] : addresses_) n += own.size();
  return n;
}

}  // namespace turnpike::router
