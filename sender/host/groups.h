// SPDX-License-Identifier: BSD-3-Clause
// The trees that a host sends to or receives from, by their group addresses (docs/multicast.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/config/topology.h"
#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "common/wire/layers.h"
#include "sender/connection/siphash.h"

namespace turnpike::sender {

/// A host's part in one tree.
struct Group {
  config::Ipv4 ipv4 = 0;
  config::Ipv6 ipv6{};
  bool receives = false;  // false: the host is the root
  SecretKey key{};        // of tokens: all receivers of the tree issue the same
};

class Groups {
 public:
  /// `secret`: key of the run, shared by all receivers of a tree.
  Groups(const config::Topology& topology, uint32_t host, const SecretKey& secret) {
    for (size_t t = 0; t < topology.trees.size(); ++t) {
      const config::Tree& tree = topology.trees[t];
      const bool receives = std::ranges::find(tree.receivers, host) != tree.receivers.end();
      if (!receives && tree.root != host) continue;
      groups_.push_back({tree.ipv4, tree.ipv6, receives, key_of(secret, t)});
    }
  }

  /// The group that a located frame is addressed to; null: none of the host's.
  [[nodiscard]] const Group* find(const uint8_t* frame, const wire::UdpFrame& at) const {
    const uint8_t* ip = frame + at.ip;
    for (const Group& g : groups_) {
      if (at.ipv6 ? std::memcmp(ip + wire::kIpv6DestinationAt, g.ipv6.data(), 16) == 0
                  : wire::load_be32(ip + wire::kIpv4DestinationAt) == g.ipv4)
        return &g;
    }
    return nullptr;
  }

 private:
  /// Purposes of hosts' keys are 32-bit numbers: a tree's lie beyond.
  static SecretKey key_of(const SecretKey& secret, uint64_t tree) {
    const uint64_t purpose = uint64_t{1} << 32 | tree;
    return {siphash(secret, std::array{purpose, uint64_t{0}}),
            siphash(secret, std::array{purpose, uint64_t{1}})};
  }

  std::vector<Group> groups_;
};

/// Readdresses a request to a group, so that its reply goes from `own` to the group: on the tree to
/// the root. `ip`: the request's IP header, whose IPv4 checksum is updated (RFC 1624).
inline void answer_to_group(uint8_t* ip, bool ipv6, const config::Interface& own) {
  if (ipv6) {
    std::memcpy(ip + wire::kIpv6SourceAt, ip + wire::kIpv6DestinationAt, 16);
    std::memcpy(ip + wire::kIpv6DestinationAt, own.ipv6.address.data(), 16);
    return;
  }
  const uint32_t root = wire::load_be32(ip + wire::kIpv4SourceAt);
  std::memcpy(ip + wire::kIpv4SourceAt, ip + wire::kIpv4DestinationAt, 4);
  wire::store_be32(ip + wire::kIpv4DestinationAt, own.ipv4.address);
  uint8_t* checksum = ip + wire::kIpv4ChecksumAt;
  wire::store_be16(checksum,
                   wire::update_checksum(wire::load_be16(checksum), root, own.ipv4.address));
}

}  // namespace turnpike::sender
