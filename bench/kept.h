// SPDX-License-Identifier: BSD-3-Clause
// Keeps test beds that take longer to build than to measure, one per size.
#pragma once

#include <cstddef>

namespace turnpike::bench {

/// The bed of that size; one of each kind is kept until another size is asked for. The last one is
/// never destroyed: DPDK, which it may give memory back to, is down before static objects go.
template <class Bed>
Bed& kept(size_t size) {
  static Bed* bed = nullptr;
  if (bed == nullptr || bed->size() != size) {
    delete bed;
    bed = nullptr;
    bed = new Bed(size);
  }
  return *bed;
}

}  // namespace turnpike::bench
