// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/offloads.h"

#include <bit>
#include <utility>

#include <rte_ethdev.h>

#include "common/dpdk/rss_key.h"

namespace turnpike {
namespace {

// Some drivers name whole packets by protocol, others the IP header of all packets: either spreads
// by addresses.
constexpr uint64_t kRssIpv4 =
    RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER;
constexpr uint64_t kRssIpv6 =
    RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER | RTE_ETH_RSS_IPV6_EX;
constexpr uint64_t kRssUdp4 = RTE_ETH_RSS_NONFRAG_IPV4_UDP, kRssUdp6 = RTE_ETH_RSS_NONFRAG_IPV6_UDP;
constexpr uint64_t kRssWanted = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP;

/// The kinds of packets that one lcore receives alone; empty: none.
std::string not_spread(uint64_t rss) {
  const bool ipv4 = (rss & (kRssIpv4 | kRssUdp4)) != 0, ipv6 = (rss & (kRssIpv6 | kRssUdp6)) != 0;
  if (!ipv4 && !ipv6) return "any packets (it has no RSS)";
  if (!ipv4) return "IPv4";
  if (!ipv6) return "IPv6";
  if ((rss & kRssUdp4) == 0 || (rss & kRssUdp6) == 0)
    return "UDP packets between the same two hosts";
  return "";
}

struct Name {
  uint64_t bit;
  const char* text;
};

std::string names(uint64_t set, std::initializer_list<Name> known) {
  std::string text;
  for (const Name& n : known)
    if ((set & n.bit) != 0) text += (text.empty() ? "" : ", ") + std::string(n.text);
  return text.empty() ? "none" : text;
}

}  // namespace

Offloads choose_offloads(const PortCapabilities& offered, const PortUse& use) {
  Offloads on;
  uint64_t rx = 0, tx = 0;
  if (use.ip_verdicts) rx |= RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
  if (use.udp_verdicts && (offered.rx & rx) != 0) rx |= RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
  if (use.frame > use.buffer) rx |= RTE_ETH_RX_OFFLOAD_SCATTER;
  tx |= use.chains ? RTE_ETH_TX_OFFLOAD_MULTI_SEGS : RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
  on.rx = offered.rx & rx;
  on.tx = offered.tx & tx;
  if (use.queues < 2) return on;
  on.rss = offered.rss & kRssWanted;
  if (on.rss != 0) on.rss_key = symmetric_rss_key(offered.hash_key_size);
  if (use.moves_buckets && on.rss != 0 && std::has_single_bit(offered.reta_size) &&
      (offered.rx & RTE_ETH_RX_OFFLOAD_RSS_HASH) != 0) {
    on.rx |= RTE_ETH_RX_OFFLOAD_RSS_HASH;
    on.buckets = offered.reta_size;
  }
  if (const std::string kinds = not_spread(on.rss); !kinds.empty())
    on.spread_warning =
        "does not spread " + kinds + " over its " + std::to_string(use.queues) +
        " queues: one lcore receives them all. Use one lcore, more flows between other "
        "hosts, or a NIC with RSS over them (docs/nics.md)";
  return on;
}

std::string offloads_text(const Offloads& offloads) {
  return "rx: " +
         names(offloads.rx, {{RTE_ETH_RX_OFFLOAD_IPV4_CKSUM, "ipv4-cksum"},
                             {RTE_ETH_RX_OFFLOAD_UDP_CKSUM, "udp-cksum"},
                             {RTE_ETH_RX_OFFLOAD_SCATTER, "scatter"},
                             {RTE_ETH_RX_OFFLOAD_RSS_HASH, "rss-hash"}}) +
         "; tx: " +
         names(offloads.tx, {{RTE_ETH_TX_OFFLOAD_MULTI_SEGS, "multi-segs"},
                             {RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, "mbuf-fast-free"}}) +
         "; rss: " +
         names(offloads.rss, {{kRssIpv4, "ipv4"},
                              {kRssIpv6, "ipv6"},
                              {RTE_ETH_RSS_UDP, "udp"},
                              {RTE_ETH_RSS_TCP, "tcp"}}) +
         (offloads.rss_key.empty() ? "" : ", symmetric");
}

}  // namespace turnpike
