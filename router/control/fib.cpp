// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/fib.h"

#include <algorithm>
#include <set>

#include <rte_errno.h>

#include "common/config/address.h"

namespace turnpike::router {

namespace {

/// An entry of two bytes has 15 bits for a group or a value.
constexpr uint32_t kMaxInTwoBytes = (1U << 15) - 1;

/// Groups of 256 entries (tbl8) that DIR24_8 needs: one per /24 that holds a longer prefix.
uint32_t groups(std::span<const FibEntry<config::Ipv4Prefix>> entries) {
  std::set<uint32_t> blocks;
  for (const auto& e : entries)
    if (e.prefix.length > 24) blocks.insert(e.prefix.address >> 8);
  return static_cast<uint32_t>(blocks.size()) + 1;
}

/// The trie needs at most one group per prefix and byte beyond the first 24 bits.
uint32_t groups(std::span<const FibEntry<config::Ipv6Prefix>> entries) {
  uint32_t n = 1;
  for (const auto& e : entries)
    if (e.prefix.length > 24) n += static_cast<uint32_t>((e.prefix.length - 24 + 7) / 8);
  return n;
}

template <class Prefix>
bool small(std::span<const FibEntry<Prefix>> entries, uint32_t groups) {
  return groups < kMaxInTwoBytes && std::ranges::all_of(entries, [](const FibEntry<Prefix>& e) {
           return e.value <= kMaxInTwoBytes;
         });
}

}  // namespace

size_t Fib::memory(size_t ipv4, size_t ipv6) {
  // B: two nodes of the RIB; for IPv6, up to three groups of entries as well.
  constexpr size_t kPerIpv4 = 512, kPerIpv6 = 512 + 3 * 1024;
  const auto first = [](size_t entries) {  // an entry for each /24, of two or four bytes
    return entries == 0 ? 0 : size_t{entries <= kMaxInTwoBytes ? 2U : 4U} << 24;
  };
  return first(ipv4) + ipv4 * kPerIpv4 + first(ipv6) + ipv6 * kPerIpv6;
}

tl::expected<Fib, std::string> Fib::build(const std::string& name,
                                          std::span<const FibEntry<config::Ipv4Prefix>> ipv4,
                                          std::span<const FibEntry<config::Ipv6Prefix>> ipv6,
                                          int socket) {
  Fib fib;
  rte_fib_conf conf4{};
  conf4.type = RTE_FIB_DIR24_8;
  conf4.max_routes = static_cast<int>(ipv4.size()) + 1;
  conf4.dir24_8.num_tbl8 = groups(ipv4);
  conf4.dir24_8.nh_sz =
      small(ipv4, conf4.dir24_8.num_tbl8) ? RTE_FIB_DIR24_8_2B : RTE_FIB_DIR24_8_4B;
  if (!ipv4.empty()) fib.ipv4_.reset(rte_fib_create((name + "-4").c_str(), socket, &conf4));
  rte_fib6_conf conf6{};
  conf6.type = RTE_FIB6_TRIE;
  conf6.max_routes = static_cast<int>(ipv6.size()) + 1;
  conf6.trie.num_tbl8 = groups(ipv6);
  conf6.trie.nh_sz = small(ipv6, conf6.trie.num_tbl8) ? RTE_FIB6_TRIE_2B : RTE_FIB6_TRIE_4B;
  if (!ipv6.empty()) fib.ipv6_.reset(rte_fib6_create((name + "-6").c_str(), socket, &conf6));
  if ((!ipv4.empty() && !fib.ipv4_) || (!ipv6.empty() && !fib.ipv6_))
    return tl::unexpected(std::string("no memory (") + rte_strerror(rte_errno) + ")");
  for (const auto& [p, value] : ipv4)
    if (rte_fib_add(fib.ipv4_.get(), p.address, p.length, value) != 0)
      return tl::unexpected("cannot add " + config::prefix_text(p));
  for (const auto& [p, value] : ipv6)
    if (fib6_add(fib.ipv6_.get(), p.address, p.length, value) != 0)
      return tl::unexpected("cannot add " + config::prefix_text(p));
  return fib;
}

}  // namespace turnpike::router
