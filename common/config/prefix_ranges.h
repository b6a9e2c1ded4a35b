// SPDX-License-Identifier: BSD-3-Clause
// Longest matches of prefixes as sorted ranges of addresses with the same match.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/config/address.h"

namespace turnpike::config {

inline Ipv4 last_address(const Ipv4Prefix& p) {
  return p.address | (p.length == 0 ? ~Ipv4{0} : p.length == 32 ? 0 : ~Ipv4{0} >> p.length);
}
inline Ipv6 last_address(const Ipv6Prefix& p) {
  Ipv6 last = p.address;
  for (unsigned bit = p.length; bit < 128; ++bit)
    last[bit / 8] |= static_cast<uint8_t>(0x80U >> (bit % 8));
  return last;
}

/// The address after `a`; std::nullopt: it is the last one.
inline std::optional<Ipv4> next_address(Ipv4 a) {
  return a == ~Ipv4{0} ? std::nullopt : std::optional(a + 1);
}
inline std::optional<Ipv6> next_address(Ipv6 a) {
  for (size_t i = a.size(); i-- > 0;)
    if (++a[i] != 0) return a;
  return {};
}

/// Memory for at most two ranges a prefix; a lookup takes the logarithm of their number.
template <class Prefix, class Value>
class PrefixRanges {
 public:
  using Address = decltype(Prefix::address);

  /// Of several values of a prefix, bits beyond whose length do not count, the first one serves.
  /// `none`: the value of addresses without a match.
  PrefixRanges(std::vector<std::pair<Prefix, Value>> prefixes, const Value& none) {
    for (auto& [prefix, value] : prefixes) prefix = network(prefix);
    std::ranges::stable_sort(
        prefixes, {}, [](const auto& p) { return std::pair(p.first.address, p.first.length); });
    std::vector<const std::pair<Prefix, Value>*> around;  // that cover the address, outer first
    const auto leave = [&] {
      const auto after = next_address(last_address(around.back()->first));
      around.pop_back();
      if (after) begin(*after, around.empty() ? none : around.back()->second);
    };
    begin({}, none);
    for (const auto& p : prefixes) {
      while (!around.empty() && !covers(around.back()->first, p.first)) leave();
      if (!around.empty() && around.back()->first.length == p.first.length) continue;
      begin(p.first.address, p.second);
      around.push_back(&p);
    }
    while (!around.empty()) leave();
    begins_.shrink_to_fit();
    values_.shrink_to_fit();
  }

  [[nodiscard]] const Value& find(const Address& address) const {
    const auto after = std::ranges::upper_bound(begins_, address);
    return values_[static_cast<size_t>(after - begins_.begin()) - 1];
  }

 private:
  void begin(const Address& at, const Value& value) {
    if (begins_.empty() || begins_.back() != at) {
      begins_.push_back(at);
      values_.push_back(value);
    } else {
      values_.back() = value;
    }
  }

  std::vector<Address> begins_;  // of ranges
  std::vector<Value> values_;
};

}  // namespace turnpike::config
