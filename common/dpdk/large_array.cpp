// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/large_array.h"

#include <algorithm>

#include <rte_common.h>
#include <sys/mman.h>

namespace turnpike {
namespace {

constexpr size_t kPage = 4096;

size_t whole_pages(size_t length) { return RTE_ALIGN_CEIL(std::max(length, size_t{1}), kPage); }

}  // namespace

void* map_large(size_t length) {
  length = whole_pages(length);
  void* all = mmap(nullptr, length + kLargePage, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(all);
  char* const memory = RTE_PTR_ALIGN_CEIL(begin, kLargePage);
  if (memory > begin) munmap(begin, static_cast<size_t>(memory - begin));
  char* const end = begin + length + kLargePage;
  if (memory + length < end) munmap(memory + length, static_cast<size_t>(end - memory - length));
  madvise(memory, length, MADV_HUGEPAGE);  // without it lookups are slower but correct
  return memory;
}

void* map_lazily(size_t length, bool large_pages) {
  void* memory = mmap(nullptr, whole_pages(length), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (large_pages) madvise(memory, whole_pages(length), MADV_HUGEPAGE);
  return memory;
}

void unmap_large(void* memory, size_t length) { munmap(memory, whole_pages(length)); }

void populate(void* memory, size_t length) {
  auto* const bytes = static_cast<volatile char*>(memory);
  for (size_t at = 0; at < length; at += kPage) bytes[at] = 0;
}

}  // namespace turnpike
