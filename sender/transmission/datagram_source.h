// SPDX-License-Identifier: BSD-3-Clause
// Datagrams that a flow carries, such as those of a tunnel, in place of synthetic payload.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "common/units/units.h"

struct rte_mbuf;

namespace turnpike::sender {

/// A flow that carries datagrams is unreliable: its packets are acknowledged, for feedback and to
/// count losses, and none is retransmitted. Used by the lcore of the flow's Source; any thread
/// reads what waits.
class DatagramSource {
 public:
  virtual ~DatagramSource() = default;
  DatagramSource(const DatagramSource&) = delete;
  DatagramSource& operator=(const DatagramSource&) = delete;

  /// The payload of one packet.
  struct Taken {
    rte_mbuf* buffer = nullptr;  // the caller owns it; null: nothing waits any more
    uint8_t ecn = 0;             // ECN field of the packet's IP header (RFC 3168)
  };
  /// Takes at most `room` B. The buffer's first segment has `headers` B of headroom.
  virtual Taken take(uint32_t room, uint16_t headers, Nanos now) = 0;

  /// Headers of a packet, which its receiver sees as they are.
  struct Headers {
    const uint8_t* common = nullptr;  // wire::kHeaderSize B
    uint64_t sequence = 0;            // of which `common` has the low half
    uint16_t source_port = 0;
  };
  /// Whether seal() must be called with the payload of each packet. take() then returns payload in
  /// one segment.
  [[nodiscard]] bool sealed() const { return sealed_; }
  /// Encrypts and authenticates the whole payload that take() has returned, once the headers are
  /// written. False: the packet must not be sent.
  virtual bool seal(std::span<uint8_t> /*payload*/, const Headers& /*headers*/) { return true; }
  /// A packet of that many B, with all headers, has been sent at that price, $/B.
  virtual void sent(uint32_t size, double price) = 0;

  /// B that wait; 0 if no datagram does.
  [[nodiscard]] uint64_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  /// B/s, with the headers of the flow's packets, that the flow can use: the law's limit.
  [[nodiscard]] double demand() const { return demand_; }
  /// Whether the flow may send a packet up to one packet's slot before its pace allows it, because
  /// a small datagram should not wait behind the slot of a large one.
  [[nodiscard]] bool urgent() const { return urgent_; }

 protected:
  DatagramSource() = default;

  void set_waiting(uint64_t bytes) { waiting_.store(bytes, std::memory_order_relaxed); }
  void set_demand(double rate) { demand_ = rate; }
  void set_urgent(bool urgent) { urgent_ = urgent; }
  void set_sealed(bool sealed) { sealed_ = sealed; }

 private:
  std::atomic<uint64_t> waiting_{0};
  double demand_ = 0;
  bool urgent_ = false, sealed_ = false;
};

}  // namespace turnpike::sender
