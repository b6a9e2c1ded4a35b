// SPDX-License-Identifier: BSD-3-Clause
// A key of the Toeplitz hash that hashes both directions of a connection alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace turnpike {

/// A key of `size` B under which swapped addresses and swapped ports hash as before: the same 16
/// bits again and again. The hash adds the key's bits from a field's offset on, and source and
/// destination lie a multiple of 16 bits apart. Both directions of a connection thus come to one
/// lcore. The price: at most 65,536 different hashes, where a redirection table has 128 to 2,048
/// buckets. Source: Woo and Park 2012.
///
/// RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ does the same with any key, but few drivers offer it,
/// and DPDK 22.11 sets it by flow rules alone.
inline std::vector<uint8_t> symmetric_rss_key(size_t size) {
  std::vector<uint8_t> key(size);
  for (size_t i = 0; i < size; ++i) key[i] = i % 2 == 0 ? 0x6d : 0x5a;
  return key;
}

}  // namespace turnpike
