// SPDX-License-Identifier: BSD-3-Clause
// Decides which addresses the kernel is asked to resolve: none twice within an interval, and a
// bounded number of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "common/units/units.h"
#include "router/linux/route_value.h"

namespace turnpike::router {

class NeighbourRequests {
 public:
  struct Limits {
    Nanos interval{1'000'000'000};  // between two requests for one address, at least
    size_t addresses = 1024;        // requests in an interval, at most
  };
  enum class Decision : uint8_t { kAsk, kRecent, kTooMany };

  explicit NeighbourRequests(const Limits& limits) : limits_(limits) {}

  Decision ask(size_t link, const Address& address, Nanos now) {
    if (now - start_ >= limits_.interval) {
      // Requests of the interval before stay recent, unless that is long ago.
      previous_ = now - start_ < limits_.interval * 2 ? std::move(current_) : Asked{};
      current_.clear();
      start_ = now;
    }
    const Key key{link, address};
    if (current_.contains(key) || previous_.contains(key)) return Decision::kRecent;
    if (current_.size() >= limits_.addresses) return Decision::kTooMany;
    current_.insert(key);
    return Decision::kAsk;
  }

 private:
  struct Key {
    size_t link = 0;
    Address address;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const { return AddressHash{}(key.address) ^ key.link; }
  };
  using Asked = std::unordered_set<Key, KeyHash>;

  Limits limits_;
  Asked current_, previous_;
  Nanos start_{0};
};

}  // namespace turnpike::router
