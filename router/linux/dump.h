// SPDX-License-Identifier: BSD-3-Clause
// Reads the kernel's whole state by one socket: a dump of each kind, in an order in which routes
// find what they refer to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "router/linux/kernel_state.h"
#include "router/linux/netlink_socket.h"

namespace turnpike::router {

/// One mark-and-sweep of a KernelState. step() until it is no longer kRunning.
class Dump {
 public:
  enum class Progress : uint8_t {
    kRunning,  // call again, there is more to read
    kWaiting,  // nothing to read now; call again when the socket is readable
    kComplete,
    kInterrupted,  // changes interrupted a dump kMaxTries times: nothing was removed for its kind
    kFailed,       // the kernel refused a dump or the socket failed: error()
  };

  /// Both must outlive it. `sequence`: the last sequence number used on the socket; the dumps take
  /// the following ones.
  Dump(NetlinkSocket& socket, KernelState& state, uint32_t sequence);

  /// Reads at most `batches` x NetlinkSocket::kBatch datagrams of up to 32 KiB.
  Progress step(size_t batches);

  [[nodiscard]] uint64_t messages() const { return messages_; }
  [[nodiscard]] uint64_t malformed() const { return malformed_; }
  [[nodiscard]] uint64_t interruptions() const { return interruptions_; }
  [[nodiscard]] uint32_t sequence() const { return sequence_; }
  /// errno of the failure.
  [[nodiscard]] int error() const { return error_; }

  static constexpr unsigned kMaxTries = 5;  // of each kind

 private:
  enum class Kind : uint8_t { kListing, kDone, kNotDone };
  bool request();
  void handle(const nlmsghdr& message);
  void finish_kind(bool complete);

  NetlinkSocket& socket_;
  KernelState& state_;
  uint32_t sequence_;
  DumpKind kind_ = DumpKind::kLinks;
  Kind listing_ = Kind::kDone;  // of the current dump
  bool requested_ = false, interrupted_ = false, incomplete_ = false;
  unsigned tries_ = 0;
  uint64_t messages_ = 0, malformed_ = 0, interruptions_ = 0;
  int error_ = 0;
};

}  // namespace turnpike::router
