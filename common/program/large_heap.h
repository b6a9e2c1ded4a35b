// SPDX-License-Identifier: BSD-3-Clause
// The heap in large pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/dpdk/large_array.h"

namespace turnpike {

/// Asks the kernel to put future heap allocations of this process, up to the first 256 MiB, into
/// large pages; call first in main(). Accesses to the state of many links are scattered, and in
/// small pages most of their time is TLB misses. Without large pages nothing changes.
inline void heap_in_large_pages() {
  constexpr size_t kReserve = size_t{256} << 20;
  // All but large buffers come from the one heap, which never shrinks.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, kReserve);
  auto* const top = static_cast<char*>(sbrk(0));
  char* const begin = top + (-reinterpret_cast<uintptr_t>(top) & (kLargePage - 1));
  void* volatile grown = std::malloc(kLargePage);  // more than the heap has free; volatile keeps it
  std::free(grown);
  auto* const end = static_cast<char*>(sbrk(0));
  mallopt(M_TOP_PAD, kLargePage);
  if (begin < end) madvise(begin, static_cast<size_t>(end - begin), MADV_HUGEPAGE);
}

}  // namespace turnpike
