// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/kernel_neighbours.h"

#include <linux/neighbour.h>

namespace turnpike::router {

void KernelNeighbours::tell(const Key& key, Neighbour& n) {
  const Interfaces::Interface* interface = interfaces_.find(key.interface);
  const std::optional<size_t> link =
      interface != nullptr && n.usable ? interface->link : std::nullopt;
  if (n.link == link && (!link || n.told_mac == n.mac)) return;
  if (n.link && n.link != link) {
    sink_.erase_neighbour(*n.link, key.address);
    --told_;
  }
  if (link) {
    sink_.set_neighbour(*link, key.address, n.mac);
    if (n.link != link) ++told_;
  }
  n.link = link;
  n.told_mac = n.mac;
  changed_ = true;
}

KernelNeighbours::Map::iterator KernelNeighbours::erase(Map::iterator at) {
  if (!at->second.usable) --unresolved_;
  if (at->second.link) {
    sink_.erase_neighbour(*at->second.link, at->first.address);
    --told_;
    changed_ = true;
  }
  return all_.erase(at);
}

void KernelNeighbours::apply(const NeighbourMessage& message, uint32_t generation) {
  // The kernel lists groups that it sent to, too; frames to them need no neighbour.
  if (is_multicast(message.address)) return;
  const Key key{message.interface, message.address};
  if (message.removed) {
    if (const auto found = all_.find(key); found != all_.end()) erase(found);
    return;
  }
  const auto [at, fresh] = all_.try_emplace(key);
  Neighbour& n = at->second;
  if (fresh || n.usable) ++unresolved_;
  if (fresh || n.state != message.state || n.mac != message.mac) n.since = now_;
  if (message.usable) --unresolved_;
  n.mac = message.mac;
  n.usable = message.usable;
  n.state = message.state;
  n.generation = generation;
  tell(key, n);
  if (message.usable && (message.state & NUD_STALE) != 0 && n.link)
    stale_.push_back({*n.link, key.address});
}

void KernelNeighbours::for_each(const std::function<void(const Shown&)>& visit) const {
  for (const auto& [key, n] : all_) {
    const Interfaces::Interface* interface = interfaces_.find(key.interface);
    if (interface == nullptr || !interface->link) continue;
    visit({.link = *interface->link,
           .address = key.address,
           .mac = n.usable ? &n.mac : nullptr,
           .state = n.state,
           .since = n.since});
  }
}

void KernelNeighbours::sweep(uint32_t generation) {
  for (auto at = all_.begin(); at != all_.end();) {
    at = at->second.generation == generation ? std::next(at) : erase(at);
  }
}

void KernelNeighbours::erase_interface(uint32_t interface) {
  for (auto at = all_.begin(); at != all_.end();) {
    at = at->first.interface != interface ? std::next(at) : erase(at);
  }
}

void KernelNeighbours::refresh() {
  for (auto& [key, neighbour] : all_) tell(key, neighbour);
}

}  // namespace turnpike::router
