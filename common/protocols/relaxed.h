// SPDX-License-Identifier: BSD-3-Clause
// Single figures that one thread writes and any thread reads, in no order with other memory.
#pragma once

#include <atomic>

namespace turnpike {

inline double read(const std::atomic<double>& a) { return a.load(std::memory_order_relaxed); }
inline void write(std::atomic<double>& a, double v) { a.store(v, std::memory_order_relaxed); }

}  // namespace turnpike
