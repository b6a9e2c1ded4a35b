// SPDX-License-Identifier: BSD-3-Clause
// Vectors that one thread writes often, beside memory of others.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include <rte_common.h>

namespace turnpike {

/// Allocates whole cache lines.
template <class T>
struct LineAllocator {
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard's name

  LineAllocator() = default;
  template <class U>
  explicit LineAllocator(const LineAllocator<U>& /*other*/) {}

  [[nodiscard]] T* allocate(size_t n) {
    return static_cast<T*>(::operator new(RTE_CACHE_LINE_ROUNDUP(n * sizeof(T)), kLine));
  }
  void deallocate(T* memory, size_t /*n*/) { ::operator delete(memory, kLine); }
  bool operator==(const LineAllocator&) const = default;

 private:
  static constexpr std::align_val_t kLine{RTE_CACHE_LINE_SIZE};
};

/// A vector whose elements share no cache line with anything else.
template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace turnpike
