// SPDX-License-Identifier: BSD-3-Clause
// Gateways, which carry customers' packets in tunnels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/config/topology/addresses.h"
#include "common/config/topology/law_choice.h"
#include "common/units/secret_bytes.h"
#include "common/units/units.h"

namespace turnpike::config {

/// The other end of a gateway's tunnels.
struct GatewayPeer {
  std::string name;
  std::variant<Ipv4, Ipv6> address;   // to which the tunnels' packets go
  std::vector<Ipv4Prefix> ipv4 = {};  // destinations behind it
  std::vector<Ipv6Prefix> ipv6 = {};
  std::vector<SecretBytes> keys = {};  // of its tunnels: the first seals, all open
};

/// Encryption of a gateway's tunnels, with the keys of its peers.
struct GatewaySecurity {
  std::string key_file;     // absolute
  std::string unread = {};  // reason why it could not be read: the keys are not known
  bool exposed = false;     // others than its owner may read it
};

/// Treatment of packets for a peer that does not answer.
enum class SilentPeer : uint8_t {
  kForward,  // forwards them as any router does
  kDrop,
};

/// A class of customers' packets, which have tunnels of their own.
struct GatewayClass {
  std::string name;
  std::vector<unsigned> dscp = {};  // of its packets; empty: those of no other class
  unsigned core_dscp = 0;           // of its tunnels' packets
  double share = 1;                 // within a customer's budget and ceiling
  bool background = false;          // spends a ten-thousandth of the budget
};

/// A router that carries its customers' packets to peers in tunnels: priced flows, one for each
/// customer, class and peer.
struct Gateway {
  size_t router = 0;         // index into Topology::routers
  std::vector<size_t> core;  // links towards the peers; the router's others face customers
  std::vector<GatewayPeer> peers = {};
  std::vector<GatewayClass> classes = {};        // one at least; of these one is without `dscp`
  std::array<uint8_t, 64> class_of = {};         // by DSCP: index into `classes`
  std::string strategy = "max-min";              // divides a customer's budget among its tunnels
  std::optional<GatewaySecurity> security = {};  // none: packets in the clear
  LawChoice law;                                 // of the tunnels' flows
  Bytes mtu{0};                                  // of the tunnels' packets, headers included
  Bytes limit{0};                                // of a tunnel's queue
  Nanos target{0}, interval{0};                  // of CoDel in it
  Nanos idle{0};                                 // a tunnel without packets for so long closes
  SilentPeer silent_peer = SilentPeer::kForward;
  bool outside = false;  // customers' packets also go to the core outside of tunnels, unpriced
};

}  // namespace turnpike::config
