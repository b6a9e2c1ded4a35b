// SPDX-License-Identifier: BSD-3-Clause
// Reads attributes of netlink messages by libmnl, with their lengths checked.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include <libmnl/libmnl.h>

#include "common/config/topology.h"
#include "common/wire/bytes.h"

namespace turnpike::router {

/// One attribute: its type without flags, and its content.
struct Attribute {
  uint16_t type = 0;
  std::span<const uint8_t> data;

  /// Reads a number of the machine's byte order into `out`; false: the attribute is shorter.
  template <class Number>
  [[nodiscard]] bool read(Number& out) const {
    if (data.size() < sizeof out) return false;
    std::memcpy(&out, data.data(), sizeof out);
    return true;
  }
  [[nodiscard]] bool read(config::Ipv6& out) const {
    if (data.size() < out.size()) return false;
    std::copy_n(data.begin(), out.size(), out.begin());
    return true;
  }
  [[nodiscard]] bool read_ipv4(config::Ipv4& out) const {
    if (data.size() < 4) return false;
    out = wire::load_be32(data.data());
    return true;
  }
  /// Text up to the first zero byte.
  [[nodiscard]] std::string text() const {
    return {data.begin(), std::find(data.begin(), data.end(), uint8_t{0})};
  }
};

/// Calls `use(const Attribute&)`, which returns whether the attribute is as it should be, for each
/// attribute of `content`, which is aligned to 4 B; returns false at the first that is not.
template <class Use>
bool for_each_attribute(std::span<const uint8_t> content, Use use) {
  int left = static_cast<int>(content.size());
  for (auto* a = reinterpret_cast<const nlattr*>(content.data()); mnl_attr_ok(a, left);
       a = mnl_attr_next(a)) {
    const auto* data = static_cast<const uint8_t*>(mnl_attr_get_payload(a));
    if (!use(Attribute{mnl_attr_get_type(a), {data, mnl_attr_get_payload_len(a)}})) return false;
    left -= static_cast<int>(MNL_ALIGN(a->nla_len));
  }
  return true;
}

}  // namespace turnpike::router
