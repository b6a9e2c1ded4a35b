// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/ports.h"

#include <algorithm>
#include <bit>
#include <map>

#include "common/config/port_device.h"
#include "common/dpdk/pool.h"
#include "common/program/attachment.h"
#include "router/control/customer_table.h"
#include "router/control/file_routes.h"
#include "router/gateway/hand_over.h"

namespace turnpike::router {

tl::expected<std::vector<LinkDevice>, std::string> link_devices(const config::Topology& t,
                                                                size_t node, unsigned workers) {
  std::vector<LinkDevice> devices;
  std::map<std::string, size_t> shared;  // ports that carry VLANs, by device: index of a link there
  size_t ports = 0;
  for (const size_t link : t.routers[node].links) {
    const size_t end = t.links[link].end_at(t.routers[node].name);
    const config::Interface& own = t.links[link].ends[end];
    if (own.tagged_port) {
      const std::string name = config::port_device(own.attachment);
      const auto [first, fresh] = shared.emplace(name, devices.size());
      if (!fresh && !name.empty()) {
        devices.push_back(devices[first->second]);
        continue;
      }
    }
    const unsigned queues = multiqueue(own.attachment) ? workers : 1;
    auto device = device_at(t.links[link], end, static_cast<unsigned>(devices.size()), queues);
    if (!device) return tl::unexpected(device.error());
    devices.push_back({std::move(*device), static_cast<uint16_t>(queues), ports++});
  }
  return devices;
}

std::vector<const config::Attachment*> attachments(const config::Topology& t, size_t node) {
  std::vector<const config::Attachment*> own;
  for (const size_t link : t.routers[node].links)
    own.push_back(&t.links[link].ends[t.links[link].end_at(t.routers[node].name)].attachment);
  return own;
}

std::vector<std::string> pci_addresses(const config::Topology& t, size_t node) {
  std::vector<std::string> addresses;
  for (const config::Attachment* own : attachments(t, node)) {
    const auto* pci = std::get_if<config::AttachPci>(own);
    if (pci != nullptr && std::ranges::count(addresses, pci->address) == 0)
      addresses.push_back(pci->address);
  }
  return addresses;
}

bool is_gateway(const config::Topology& t, size_t node) {
  return std::ranges::find(t.gateways, node, &config::Gateway::router) != t.gateways.end();
}

bool has_branches(const config::Topology& t, size_t node) {
  return std::ranges::any_of(t.trees, [&](const config::Tree& tree) {
    return std::ranges::find(tree.branches, node, &config::Branch::router) != tree.branches.end();
  });
}

bool sends_chains(const config::Topology& t, size_t node) {
  if (is_gateway(t, node) || has_branches(t, node)) return true;
  const auto own = attachments(t, node);
  const bool nics = std::ranges::all_of(own, [](const config::Attachment* a) {
    return std::holds_alternative<config::AttachPci>(*a);
  });
  if (!nics) return true;
  // A datagram that fits the link of its arrival is fragmented only for a smaller MTU.
  const std::vector<size_t>& links = t.routers[node].links;
  return std::ranges::any_of(
      links, [&](size_t link) { return t.links[link].mtu != t.links[links.front()].mtu; });
}

Needs needs_of(const config::Topology& t, size_t node, unsigned workers) {
  constexpr uint32_t kPerQueue = 3072;       // RX and TX descriptors and a PortTx's slots
  constexpr uint32_t kTypicalPacket = 1024;  // B in a full buffer; smaller packets fill the slots
  constexpr uint32_t kMax = 262'143, kMin = 16'383;
  constexpr unsigned kTablesMb = 72;    // two FIBs with 16 bits for each /24
  constexpr unsigned kGenerations = 2;  // a reload builds the next ones beside the present ones
  constexpr unsigned kBaseMb = 96;      // EAL, ports, rings
  constexpr unsigned kCryptoMb = 8;     // driver and sessions of AES-GCM
  // B: two nodes of the FIB's RIB; for IPv6, up to three groups of entries as well.
  constexpr size_t kPerIpv4Route = 512, kPerIpv6Route = 512 + 3 * 1024;

  Needs n;
  uint64_t mbufs = 0;
  uint32_t largest = 1500;
  for (const size_t link : t.routers[node].links) {
    const config::Direction& d =
        t.links[link].directions[t.links[link].end_at(t.routers[node].name)];
    mbufs +=
        uint64_t{kPerQueue} * workers + static_cast<uint64_t>(d.buffer.count()) / kTypicalPacket;
    largest = std::max<uint32_t>(largest, t.links[link].mtu);
  }
  // A copy on a tree takes a buffer for its headers, and one that refers to the payload.
  if (has_branches(t, node)) mbufs *= 2;
  const auto own = std::ranges::find(t.gateways, node, &config::Gateway::router);
  const bool gateway = own != t.gateways.end();
  const bool sealed = gateway && own->security;
  if (gateway) mbufs *= 2;  // packets wait for their tunnels
  // A mempool of 2^n - 1 wastes no memory.
  n.mbufs = std::clamp(static_cast<uint32_t>(std::bit_ceil(std::min<uint64_t>(mbufs, kMax))) - 1,
                       kMin, kMax);
  n.data_room = Pool::room_for(largest);
  const config::Router& self = t.routers[node];
  // Routes of a RouteTable change in place.
  const size_t routes =
      self.fib ? 0
               : self.ipv4_routes.size() * kPerIpv4Route + self.ipv6_routes.size() * kPerIpv6Route;
  const unsigned tables_mb = self.fib ? 0 : kTablesMb;
  const size_t rings = gateway ? gateway::HandOver::memory(workers) : 0;
  n.memory_mb =
      kBaseMb + (gateway ? kTablesMb : 0) + (sealed ? kCryptoMb * workers : 0) +
      static_cast<unsigned>(rings >> 20) +
      static_cast<unsigned>(route_table_memory(self).dpdk >> 20) +
      kGenerations *
          (tables_mb + static_cast<unsigned>((routes + CustomerTable::memory(t, self)) >> 20)) +
      static_cast<unsigned>(Pool::memory(n.mbufs, n.data_room) >> 20);
  n.beside_mb = static_cast<unsigned>(route_table_memory(self).beside >> 20);
  return n;
}

}  // namespace turnpike::router
