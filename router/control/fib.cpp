// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/fib.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <rte_errno.h>

#include "common/config/address.h"
#include "common/dpdk/wide_vectors.h"

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

size_t Fib::memory(size_t ipv4, size_t ipv6, FibKind kind) {
  // B: two nodes of the RIB; for IPv6, up to three groups of entries as well.
  constexpr size_t kPerIpv4 = 512, kPerIpv6 = 512 + 3 * 1024;
  if (kind == FibKind::kRanges)  // two ranges of each
    return 2 * (ipv4 * (sizeof(config::Ipv4) + sizeof(uint32_t)) +
                ipv6 * (sizeof(config::Ipv6) + sizeof(uint32_t)));
  const auto first = [](size_t entries) {  // an entry for each /24, of two or four bytes
    return entries == 0 ? 0 : size_t{entries <= kMaxInTwoBytes ? 2U : 4U} << 24;
  };
  return first(ipv4) + ipv4 * kPerIpv4 + first(ipv6) + ipv6 * kPerIpv6;
}

size_t Fib::memory(const FibCapacity& c) {
  constexpr size_t kPerPrefix = 512;  // B: two nodes of the RIB
  const auto family = [](size_t prefixes, size_t groups, bool small) {
    if (prefixes == 0) return size_t{0};
    return prefixes * kPerPrefix + ((size_t{1} << 24) + groups * 256) * (small ? 2 : 4);
  };
  return family(c.ipv4, c.ipv4_groups, c.ipv4_small) + family(c.ipv6, c.ipv6_groups, c.ipv6_small);
}

FibCapacity FibCapacity::of(uint32_t ipv4, uint32_t ipv6) {
  constexpr uint32_t kMinGroups = 1024;
  return {.ipv4 = ipv4,
          .ipv6 = ipv6,
          .ipv4_groups = ipv4 / 16 + kMinGroups,
          .ipv6_groups = ipv6 + kMinGroups};
}

tl::expected<Fib, std::string> Fib::create(const std::string& name, const FibCapacity& c,
                                           int socket) {
  Fib fib;
  rte_fib_conf conf4{};
  conf4.type = RTE_FIB_DIR24_8;
  conf4.max_routes = static_cast<int>(c.ipv4);
  conf4.dir24_8.num_tbl8 = c.ipv4_groups;
  conf4.dir24_8.nh_sz = c.ipv4_small ? RTE_FIB_DIR24_8_2B : RTE_FIB_DIR24_8_4B;
  if (c.ipv4 > 0) fib.ipv4_.reset(rte_fib_create((name + "-4").c_str(), socket, &conf4));
  rte_fib6_conf conf6{};
  conf6.type = RTE_FIB6_TRIE;
  conf6.max_routes = static_cast<int>(c.ipv6);
  conf6.trie.num_tbl8 = c.ipv6_groups;
  conf6.trie.nh_sz = c.ipv6_small ? RTE_FIB6_TRIE_2B : RTE_FIB6_TRIE_4B;
  if (c.ipv6 > 0) fib.ipv6_.reset(rte_fib6_create((name + "-6").c_str(), socket, &conf6));
  if ((c.ipv4 > 0 && !fib.ipv4_) || (c.ipv6 > 0 && !fib.ipv6_))
    return tl::unexpected(std::string("no memory (") + rte_strerror(rte_errno) + ")");
  fib.look_up_in_vectors();
  return fib;
}

// Sixteen addresses at a time with AVX-512. Where CPU or DPDK has no AVX-512, the tables keep the
// functions that they have.
void Fib::look_up_in_vectors() {
  const WideVectors wide;
  if (ipv4_) rte_fib_select_lookup(ipv4_.get(), RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512);
  if (ipv6_) rte_fib6_select_lookup(ipv6_.get(), RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512);
}

template <class Prefix>
Fib::Ranges<Prefix> Fib::ranges_of(std::span<const FibEntry<Prefix>> entries) {
  std::vector<std::pair<Prefix, uint32_t>> last_first;
  last_first.reserve(entries.size());
  for (auto e = entries.rbegin(); e != entries.rend(); ++e)
    last_first.emplace_back(e->prefix, e->value);
  return std::make_unique<const config::PrefixRanges<Prefix, uint32_t>>(std::move(last_first), 0);
}

tl::expected<Fib, std::string> Fib::build(const std::string& name,
                                          std::span<const FibEntry<config::Ipv4Prefix>> ipv4,
                                          std::span<const FibEntry<config::Ipv6Prefix>> ipv6,
                                          int socket, FibKind kind) {
  if (kind == FibKind::kRanges) {
    Fib fib;
    fib.ipv4_ranges_ = ranges_of(ipv4);
    fib.ipv6_ranges_ = ranges_of(ipv6);
    return fib;
  }
  FibCapacity c;
  c.ipv4 = ipv4.empty() ? 0 : static_cast<uint32_t>(ipv4.size()) + 1;
  c.ipv6 = ipv6.empty() ? 0 : static_cast<uint32_t>(ipv6.size()) + 1;
  c.ipv4_groups = groups(ipv4);
  c.ipv6_groups = groups(ipv6);
  c.ipv4_small = small(ipv4, c.ipv4_groups);
  c.ipv6_small = small(ipv6, c.ipv6_groups);
  auto fib = create(name, c, socket);
  if (!fib) return fib;
  for (const auto& [p, value] : ipv4)
    if (!fib->set(p, value)) return tl::unexpected("cannot add " + config::prefix_text(p));
  for (const auto& [p, value] : ipv6)
    if (!fib->set(p, value)) return tl::unexpected("cannot add " + config::prefix_text(p));
  return fib;
}

}  // namespace turnpike::router
