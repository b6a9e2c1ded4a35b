// SPDX-License-Identifier: BSD-3-Clause
// The kernel's interface under a port (af_packet, af_xdp): whether it is there and has
// carrier.
#pragma once

#include <cstdint>
#include <string>

namespace turnpike {

/// DPDK's drivers do not notice when an interface goes away or down: they send and receive nothing.
class KernelInterface {
 public:
  enum class State : uint8_t { kUp, kDown, kGone };

  explicit KernelInterface(const std::string& name);

  /// Of the interface that had the name when this was made, whatever it is called now. One that
  /// was deleted or moved to another network namespace is gone.
  [[nodiscard]] State state() const;

 private:
  unsigned index_;
};

}  // namespace turnpike
