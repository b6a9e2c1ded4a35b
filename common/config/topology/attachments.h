// SPDX-License-Identifier: BSD-3-Clause
// Ports to which the ends of links are attached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace turnpike::config {

/// Pause frames of IEEE 802.3x that a NIC obeys (rx), sends (tx), or both (on).
enum class FlowControl : uint8_t { kOff, kRx, kTx, kOn };
struct AttachPci {
  std::string address;
  std::optional<FlowControl> flow_control = {};  // none: as the NIC's driver sets it
  bool operator==(const AttachPci&) const = default;
};
struct AttachMemif {
  std::string socket;
  uint32_t id = 0;
  bool server = false;
  bool operator==(const AttachMemif&) const = default;
};
struct AttachAfPacket {
  std::string interface;
  bool operator==(const AttachAfPacket&) const = default;
};
struct AttachAfXdp {
  std::string interface;
  bool operator==(const AttachAfXdp&) const = default;
};
struct AttachTap {
  std::string interface;
  bool operator==(const AttachTap&) const = default;
};
struct AttachRing {  // both ends in one process (the lab)
  bool operator==(const AttachRing&) const = default;
};
struct AttachPcap {
  std::string rx_file, tx_file;
  bool repeat = false;
  bool operator==(const AttachPcap&) const = default;
};
/// A DPDK virtual device by its own name and arguments, for devices without a type here.
struct AttachVdev {
  std::string arguments;
  bool operator==(const AttachVdev&) const = default;
};

/// Ports that DPDK opens in one process (RTE_MAX_ETHPORTS, as Debian builds it).
inline constexpr size_t kMaxPorts = 32;

using Attachment = std::variant<std::monostate, AttachPci, AttachMemif, AttachAfPacket, AttachAfXdp,
                                AttachTap, AttachRing, AttachPcap, AttachVdev>;

}  // namespace turnpike::config
