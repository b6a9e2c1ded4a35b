// SPDX-License-Identifier: BSD-3-Clause
// The kernel's neighbours (ARP, neighbour discovery) on the router's links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/units/units.h"
#include "router/linux/interfaces.h"
#include "router/linux/messages.h"
#include "router/linux/neighbour_probes.h"
#include "router/linux/route_value.h"

namespace turnpike::router {

class KernelNeighbours {
 public:
  /// Both must outlive it.
  KernelNeighbours(RouteSink& sink, const Interfaces& interfaces)
      : sink_(sink), interfaces_(interfaces) {}

  /// Of the messages that follow.
  void set_time(Nanos now) { now_ = now; }
  void apply(const NeighbourMessage& message, uint32_t generation);
  /// Removes those that the dump `generation` has not listed.
  void sweep(uint32_t generation);
  /// Removes those of an interface.
  void erase_interface(uint32_t interface);
  /// Decides again about all, after interfaces became links or ceased to be.
  void refresh();

  struct Shown {
    size_t link = 0;
    const Address& address;
    const config::Mac* mac;  // null: the kernel does not know it, packets for it wait
    uint16_t state = 0;      // NUD_... of linux/neighbour.h
    Nanos since{0};          // of this state and MAC address
  };
  /// Calls for each neighbour on a link, in no order.
  void for_each(const std::function<void(const Shown&)>& visit) const;

  /// All that the kernel holds and of which the router knows the MAC address.
  [[nodiscard]] size_t size() const { return all_.size() - unresolved_; }
  /// The others: packets for them wait.
  [[nodiscard]] size_t unresolved() const { return unresolved_; }
  /// Those on links.
  [[nodiscard]] size_t told() const { return told_; }
  bool take_changed() { return std::exchange(changed_, false); }
  /// Those on links that were reported since the last call as not confirmed lately. The kernel
  /// forgets such neighbours, as it does not see the packets that the router sends to them.
  std::vector<NeighbourProbes::Neighbour> take_stale() { return std::exchange(stale_, {}); }

 private:
  struct Key {
    uint32_t interface = 0;
    Address address;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return AddressHash{}(key.address) ^ key.interface * size_t{0x9e3779b97f4a7c15};
    }
  };
  struct Neighbour {
    config::Mac mac{};
    uint32_t generation = 0;
    bool usable = false;
    uint16_t state = 0;
    Nanos since{0};              // of both and `mac`
    std::optional<size_t> link;  // which the sink has it on
    config::Mac told_mac{};
  };
  using Map = std::unordered_map<Key, Neighbour, KeyHash>;

  void tell(const Key& key, Neighbour& neighbour);
  Map::iterator erase(Map::iterator at);

  RouteSink& sink_;
  const Interfaces& interfaces_;
  Map all_;
  size_t unresolved_ = 0;  // of them, not usable: the sink does not know these
  Nanos now_{0};
  size_t told_ = 0;
  bool changed_ = false;
  std::vector<NeighbourProbes::Neighbour> stale_;
};

}  // namespace turnpike::router
