// SPDX-License-Identifier: BSD-3-Clause
// The customers and senders that telemetry names, out of any number.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

namespace turnpike::router {

/// Customers and senders that a page names. The others are in its sums.
inline constexpr size_t kMaxNamed = 20;

/// Those with the largest values, at most `most`. `value`: of one of them.
template <class T, class Value>
std::vector<const T*> largest(const std::vector<T>& all, Value value, size_t most = kMaxNamed) {
  std::vector<const T*> order;
  order.reserve(all.size());
  for (const T& t : all) order.push_back(&t);
  const size_t n = std::min(most, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(n),
                            std::ranges::greater{},
                            [&](const T* t) { return std::invoke(value, *t); });
  order.resize(n);
  return order;
}

}  // namespace turnpike::router
