// SPDX-License-Identifier: BSD-3-Clause
// DPDK for unit tests: include this, and EAL is up before the first test and down after the last.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include "common/dpdk/eal.h"
#include "common/dpdk/pool.h"
#include "tests/support/mbuf_chain.h"

namespace turnpike::testing {

/// EAL without hugepages, PCI or privileges, and one pool for all tests. When the tests are done,
/// every mbuf must be back in it.
class TestEal : public ::testing::Environment {
 public:
  void SetUp() override {
    auto eal = Eal::start({.program = "test", .memory_mb = 1024});  // a world's
    if (!eal) FAIL() << eal.error();
    eal_.emplace(std::move(*eal));
    auto pool = Pool::create("test", {.mbufs = 16383});
    if (!pool) FAIL() << pool.error();
    pool_.emplace(std::move(*pool));
  }
  void TearDown() override {
    if (pool_) {
      EXPECT_EQ(pool_->in_use(), 0U) << "mbufs leaked";
    }
    pool_.reset();
    eal_.reset();
  }
  [[nodiscard]] Pool& pool() { return *pool_; }

 private:
  std::optional<Eal> eal_;
  std::optional<Pool> pool_;
};

// GoogleTest owns it; one per program however many files include this.
inline TestEal* const kTestEal =
    static_cast<TestEal*>(::testing::AddGlobalTestEnvironment(new TestEal));

/// The pool that mbufs of tests come from.
inline Pool& test_pool() { return kTestEal->pool(); }

/// An mbuf, or a chain of several of at most `segment` bytes, that holds `bytes`.
inline rte_mbuf* make_mbuf(std::span<const uint8_t> bytes, size_t segment = SIZE_MAX,
                           rte_mempool* pool = test_pool().get()) {
  rte_mbuf* m = mbuf_chain(pool, bytes, segment);
  if (m == nullptr) ADD_FAILURE() << "the pool is empty";
  return m;
}

/// All bytes of an mbuf or a chain; it stays the caller's.
inline std::vector<uint8_t> bytes_of(const rte_mbuf* m) {
  std::vector<uint8_t> bytes;
  for (; m != nullptr; m = m->next) {
    const auto* data = rte_pktmbuf_mtod(m, const uint8_t*);
    bytes.insert(bytes.end(), data, data + m->data_len);
  }
  return bytes;
}

}  // namespace turnpike::testing
