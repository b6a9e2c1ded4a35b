// SPDX-License-Identifier: BSD-3-Clause
// Shares equal values: a million routes have few distinct sets of next hops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <unordered_set>

namespace turnpike::router {

/// `Hash` hashes a T, `Equal` compares two. Values to which no pointer is left are dropped as
/// the set grows.
template <class T, class Hash, class Equal>
class Interned {
 public:
  using Pointer = std::shared_ptr<const T>;

  /// The pointer to the value equal to `value`.
  Pointer get(const T& value) {
    if (const auto found = values_.find(value); found != values_.end()) return *found;
    if (values_.size() >= limit_) {
      std::erase_if(values_, [](const Pointer& p) { return p.use_count() == 1; });
      limit_ = std::max(kMinLimit, 2 * values_.size());
    }
    return *values_.insert(std::make_shared<const T>(value)).first;
  }

  [[nodiscard]] size_t size() const { return values_.size(); }

 private:
  static constexpr size_t kMinLimit = 1024;
  struct HashPointer {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the name of C++
    size_t operator()(const T& v) const { return Hash{}(v); }
    size_t operator()(const Pointer& p) const { return Hash{}(*p); }
  };
  struct EqualPointer {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the name of C++
    bool operator()(const Pointer& a, const Pointer& b) const { return Equal{}(*a, *b); }
    bool operator()(const T& a, const Pointer& b) const { return Equal{}(a, *b); }
    bool operator()(const Pointer& a, const T& b) const { return Equal{}(*a, b); }
  };
  std::unordered_set<Pointer, HashPointer, EqualPointer> values_;
  size_t limit_ = kMinLimit;
};

}  // namespace turnpike::router
