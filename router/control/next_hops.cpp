// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/next_hops.h"

namespace turnpike::router {

namespace {

Via via_of(size_t link, const Address& address) {
  return std::visit([&](const auto& a) { return Via{.link = link, .gateway = a}; }, address);
}

}  // namespace

NextHops::NextHops(std::vector<HopLink> links) : links_(std::move(links)) {
  using Action = NextHop::Action;
  for (const Action a :
       {Action::kNoRoute, Action::kBlackhole, Action::kUnreachable, Action::kProhibit})
    add({.action = a});
  for (size_t l = 0; l < links_.size(); ++l)
    for (const Action a : {Action::kLocal, Action::kBroadcast})
      add({.action = a, .link = static_cast<uint16_t>(l)});
}

NextHop NextHops::hop_of(const Via& via, uint32_t number) const {
  const HopLink& link = links_[via.link];
  NextHop hop{.action = NextHop::Action::kUnresolved,
              .link = static_cast<uint16_t>(via.link),
              .mtu = link.mtu,
              .overhead = link.overhead,
              .macs = {.destination = {}, .source = link.mac},
              .id = number};
  const config::Mac* mac = nullptr;
  if (const auto* v4 = std::get_if<config::Ipv4>(&via.gateway)) {
    mac = neighbours_.find(via.link, *v4);
  } else if (const auto* v6 = std::get_if<config::Ipv6>(&via.gateway)) {
    mac = neighbours_.find(via.link, *v6);
  }
  if (mac == nullptr) return hop;
  hop.action = NextHop::Action::kForward;
  hop.macs.destination = *mac;
  return hop;
}

void NextHops::change(uint32_t number, const NextHop& hop) {
  slots_[number].hop = hop;
  changes_.emplace_back(number, hop);
}

uint32_t NextHops::add(const NextHop& hop) {
  auto number = static_cast<uint32_t>(slots_.size());
  if (free_.empty()) {
    slots_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  slots_[number].references = 1;
  change(number, hop);
  return number;
}

uint32_t NextHops::take(const Via& via) {
  const auto [at, fresh] = by_via_.emplace(via, 0);
  if (!fresh) {
    hold(at->second);
    return at->second;
  }
  const uint32_t number = at->second = add({});
  slots_[number].via = via;
  change(number, hop_of(via, number));
  return number;
}

bool NextHops::release(uint32_t number) {
  Slot& slot = slots_[number];
  if (--slot.references > 0) return false;
  if (const auto at = by_via_.find(slot.via); at != by_via_.end() && at->second == number)
    by_via_.erase(at);
  slot.via = {};
  free_.push_back(number);
  return true;
}

void NextHops::refresh(const Via& via) {
  if (const auto at = by_via_.find(via); at != by_via_.end())
    change(at->second, hop_of(via, at->second));
}

void NextHops::set_neighbour(size_t link, const Address& address, const config::Mac& mac) {
  if (neighbours_.set(link, address, mac)) refresh(via_of(link, address));
}

void NextHops::erase_neighbour(size_t link, const Address& address) {
  if (neighbours_.erase(link, address)) refresh(via_of(link, address));
}

std::vector<Via> NextHops::unresolved() const {
  std::vector<Via> all;
  for (const auto& [via, number] : by_via_)
    if (via.gateway.index() != 0 && slots_[number].hop.action == NextHop::Action::kUnresolved)
      all.push_back(via);
  return all;
}

void NextHops::set_mtu(size_t link, uint16_t mtu) {
  links_[link].mtu = mtu;
  for (const auto& [via, number] : by_via_)
    if (via.link == link) change(number, hop_of(via, number));
}

}  // namespace turnpike::router
