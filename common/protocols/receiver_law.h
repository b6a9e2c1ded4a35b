// SPDX-License-Identifier: BSD-3-Clause
// The interface of a congestion control scheme at a flow's receiver, where an echo is not enough.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/units/units.h"

namespace turnpike {

/// A law of one flow at its receiver. Most schemes have none: the receiver then echoes congestion
/// headers as received. No call allocates or reads a clock; headers are not validated by the
/// caller.
class ReceiverLaw {
 public:
  /// Bytes that the receiver reserves for any protocol's law.
  static constexpr size_t kMaxBytes = 64;

  virtual ~ReceiverLaw() = default;

  /// Handles a probe: headers alone, outside the sequence. Probes are not answered.
  virtual void on_probe(const uint8_t* header, Nanos now) = 0;

  /// Handles a data packet, an IP datagram of `size` B, and rewrites its congestion header, which
  /// the ACK returns.
  virtual void on_data(uint32_t size, uint8_t* header, Nanos now) = 0;
};

}  // namespace turnpike
