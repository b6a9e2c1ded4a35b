// SPDX-License-Identifier: BSD-3-Clause
// Names for DPDK objects, which are unique per process.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

namespace turnpike {

/// `stem` cut to 12 characters, and a number that makes the name unique in this process. Short
/// enough for every kind of DPDK object (a mempool's name has at most 25 characters).
inline std::string unique_name(std::string_view stem) {
  static std::atomic<unsigned> next{0};
  return std::string(stem.substr(0, 12)) + "-" + std::to_string(next.fetch_add(1));
}

}  // namespace turnpike
