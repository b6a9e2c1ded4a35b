// SPDX-License-Identifier: BSD-3-Clause
// What a congestion control scheme runs at the receiver, per flow, where an echo is not enough.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/units/units.h"

namespace turnpike {

/// A law of one flow at its receiver. Most schemes have none: the receiver then echoes congestion
/// headers as they came. No call allocates or reads a clock, and no header is trusted.
class ReceiverLaw {
 public:
  /// Room that the receiver keeps for any protocol's law.
  static constexpr size_t kMaxBytes = 64;

  virtual ~ReceiverLaw() = default;

  /// A probe arrived: headers alone, outside the sequence. It is not answered.
  virtual void on_probe(const uint8_t* header, Nanos now) = 0;

  /// A data packet arrived, an IP datagram of `size` B. Its answer carries the congestion header
  /// as this call leaves it.
  virtual void on_data(uint32_t size, uint8_t* header, Nanos now) = 0;
};

}  // namespace turnpike
