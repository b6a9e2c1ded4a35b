// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/interfaces.h"

#include <utility>

namespace turnpike::router {
namespace {

std::optional<size_t> link_of(const Interfaces::Names& names, const std::string& name) {
  const auto found = names.find(name);
  if (found == names.end()) return std::nullopt;
  return found->second;
}

}  // namespace

void Interfaces::set_names(Names names) {
  names_ = std::move(names);
  for (auto& [index, interface] : all_) interface.link = link_of(names_, interface.name);
}

std::optional<Interfaces::Interface> Interfaces::set(const LinkMessage& message,
                                                     uint32_t generation) {
  std::optional<Interface> before;
  const auto found = all_.find(message.interface);
  if (found != all_.end()) before = std::move(found->second);
  all_[message.interface] = {.name = message.name,
                             .status = {.present = true,
                                        .up = message.up,
                                        .carrier = message.carrier,
                                        .mtu = message.mtu,
                                        .mac = message.mac},
                             .link = link_of(names_, message.name),
                             .loopback = message.name == "lo",
                             .generation = generation};
  return before;
}

bool Interfaces::erase(uint32_t interface) { return all_.erase(interface) > 0; }

const Interfaces::Interface* Interfaces::find(uint32_t interface) const {
  const auto found = all_.find(interface);
  return found == all_.end() ? nullptr : &found->second;
}

uint32_t Interfaces::of_link(size_t link) const {
  for (const auto& [index, interface] : all_) {
    if (interface.link == link) return index;
  }
  return 0;
}

bool Interfaces::usable(uint32_t interface) const {
  const Interface* found = find(interface);
  return found != nullptr && found->status.up && found->status.carrier;
}

}  // namespace turnpike::router
