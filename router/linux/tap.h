// SPDX-License-Identifier: BSD-3-Clause
// The TAP interface by which Linux sees a link of the router.
//
// Example:
//
//     auto tap = Tap::open({.name = "uplink0", .mac = {2, 0, 0, 0, 0, 1}, .mtu = 1500});
//     if (!tap) return;         // tap.error() says what mends it
//     tap->set_carrier(false);  // until the port has a link
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "router/linux/file.h"

namespace turnpike::router {

struct TapOptions {
  std::string name;  // of the interface, at most 15 characters
  config::Mac mac{};
  uint16_t mtu = 1500;                 // B
  std::string network_namespace = {};  // of the interface; empty: the caller's
  bool adopt = false;  // a TAP interface of that name exists, which no process has open
};

/// An interface without carrier. It vanishes with this object or with the process, unless keep()
/// has been called for it; then it loses its carrier.
class Tap {
 public:
  /// A new interface, up; an adopted one stays up or down. The error has the reason and what mends
  /// it.
  static tl::expected<Tap, std::string> open(const TapOptions& options);

  /// Lets the interface outlive the process, with its addresses, and lets this process's user open
  /// it again without CAP_NET_ADMIN. The error has the reason.
  tl::expected<void, std::string> keep();
  /// Removes an interface for which keep() has been called. The error: a process has it open.
  static tl::expected<void, std::string> remove(const std::string& name,
                                                const std::string& network_namespace);
  /// Whether the interface has carrier. Linux withdraws routes of interfaces without.
  void set_carrier(bool up);
  [[nodiscard]] bool carrier() const { return carrier_; }

  /// Non-blocking; reads and writes one Ethernet frame at a time.
  [[nodiscard]] int fd() const { return tap_.fd(); }
  /// The interface's index in its namespace, for netlink.
  [[nodiscard]] unsigned index() const { return index_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  explicit Tap(std::string name) : name_(std::move(name)) {}

  std::string name_;
  File tap_;
  unsigned index_ = 0;
  bool carrier_ = false;
};

}  // namespace turnpike::router
