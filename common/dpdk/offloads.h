// SPDX-License-Identifier: BSD-3-Clause
// Decides which offloads of a port are switched on, from those that its driver offers and those
// that the program uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace turnpike {

/// The fields of rte_eth_dev_info that the decision takes.
struct PortCapabilities {
  uint64_t rx = 0, tx = 0;    // RTE_ETH_RX_OFFLOAD_*, RTE_ETH_TX_OFFLOAD_*
  uint64_t rss = 0;           // RTE_ETH_RSS_*
  uint8_t hash_key_size = 0;  // B; 0: the driver takes no key
  uint16_t reta_size = 0;     // buckets of the redirection table; 0: it cannot be changed
};

/// How the program uses the port's packets.
struct PortUse {
  uint16_t queues = 1;         // of each direction
  uint32_t frame = 0;          // B of the largest
  uint32_t buffer = 0;         // B of a packet buffer's data room
  bool ip_verdicts = false;    // reads whether IPv4 header checksums are right
  bool udp_verdicts = false;   // reads whether UDP checksums are right, and IPv4's
  bool chains = true;          // sends packets of several segments, or segments with other owners
  bool moves_buckets = false;  // changes the redirection table while packets arrive
};

struct Offloads {
  uint64_t rx = 0, tx = 0, rss = 0;
  std::vector<uint8_t> rss_key = {};  // see symmetric_rss_key(); empty: the driver's own
  uint16_t buckets = 0;  // of the redirection table that may move between queues; 0: none may
  // Packets that do not spread over the queues, and the way out; empty: all do.
  std::string spread_warning;
};

/// An offload is on only if the driver offers it and code reads or needs its result:
///
/// - receive checksums: the parse stage and the hosts skip their own sum if the driver found it
///   right. UDP's only with IPv4's: virtio and vmxnet3 offer it alone, and then hand over packets
///   of the same machine whose checksums are not finished (VIRTIO_NET_F_GUEST_CSUM, virtio 1.2
///   section 5.1.6.4), which must not be forwarded as they are;
/// - scatter: if a frame does not fit a buffer;
/// - multi-segment: if packets may have several segments. Without it ixgbe, i40e and ice take their
///   vector transmit functions (ixgbe_set_tx_function() and the like in DPDK's drivers/net);
/// - fast free: if every packet is one segment of one pool with one owner;
/// - RSS: with several queues, over addresses, and over ports where the driver does it, with a key
///   that hashes both directions of a connection alike where the driver takes one;
/// - RSS hash on packets: where buckets of the redirection table move, since a packet's bucket is
///   known by it. Without the hash, or without a table of 2^n buckets, none moves.
///
/// Left off: VLAN strip and insert, since tags stay on the packet; transmit checksums, since a
/// change of the TTL or of a congestion header updates the sum by its difference (RFC 1624); packet
/// types, since parsing validates every header anyway; time stamps and large receive.
Offloads choose_offloads(const PortCapabilities& offered, const PortUse& use);

/// Names of the offloads that are on, such as "rx: ipv4-cksum, scatter; tx: multi-segs; rss: ipv4,
/// ipv6, udp, symmetric".
std::string offloads_text(const Offloads& offloads);

}  // namespace turnpike
