// SPDX-License-Identifier: BSD-3-Clause
// The kernel interface under a port (af_packet, af_xdp): whether it exists and has carrier.
#pragma once

#include <cstdint>
#include <string>

namespace turnpike {

/// DPDK's drivers do not report an interface that is deleted or down: they send and receive
/// nothing.
class KernelInterface {
 public:
  enum class State : uint8_t { kUp, kDown, kGone };

  explicit KernelInterface(const std::string& name);

  /// State of the interface that had the name at construction, whatever its name is now. kGone if
  /// it was deleted or moved to another network namespace.
  [[nodiscard]] State state() const;

 private:
  unsigned index_;
};

}  // namespace turnpike
