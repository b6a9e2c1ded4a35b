// SPDX-License-Identifier: BSD-3-Clause
// What every congestion control scheme runs at the sender, per flow.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "common/units/units.h"

namespace turnpike {

/// What the transport knows when it asks its law.
struct FlowState {
  Nanos now{0};
  Nanos rtt{0};              // latest sample; 0 until the handshake measured one
  Nanos smoothed_rtt{0};     // RFC 6298 average; 0 likewise
  Nanos answered_after{0};   // since the packet answered was sent; no sample if a stall was in it
  uint32_t packet_size = 0;  // B of a full packet (IP datagram)
  double in_flight = 0;      // B whose fate was not known before this call
  double unsent =
      std::numeric_limits<double>::infinity();  // B still to be sent, infinity if endless
  double limit = std::numeric_limits<double>::infinity();     // B/s the application can send
  double line = std::numeric_limits<double>::infinity();      // B/s that the host's port carries
  double headroom = std::numeric_limits<double>::infinity();  // $/s the host may still promise
};

/// A few bytes a law keeps with every packet in flight and gets back when its fate is known.
struct PacketNote {
  alignas(8) uint8_t bytes[16] = {};
  template <class T>
  void put(const T& v) {
    static_assert(sizeof(T) <= sizeof(bytes) && std::is_trivially_copyable_v<T>);
    std::memcpy(bytes, &v, sizeof v);
  }
  template <class T>
  [[nodiscard]] T get() const {
    static_assert(sizeof(T) <= sizeof(bytes) && std::is_trivially_copyable_v<T>);
    T v;
    std::memcpy(&v, bytes, sizeof v);
    return v;
  }
};

/// A law of one flow. The transport owns sequence numbers, timers and retransmission; the law
/// owns the congestion header and says how fast. No call allocates, reads a clock or draws
/// random numbers. Feedback is not trusted: unbelievable fields are refused, never applied.
class FlowLaw {
 public:
  /// Room that the transport keeps for any protocol's law.
  static constexpr size_t kMaxBytes = 128;

  virtual ~FlowLaw() = default;

  /// Budget this flow should use from now on (FCP's x_i); other schemes take it as a weight.
  virtual void set_target(Budget target) = 0;

  /// Writes the congestion header of a SYN of `size` bytes, of a data packet, or of a FIN.
  virtual void write_syn(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) = 0;
  virtual void write_data(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) = 0;
  virtual void write_fin(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) = 0;

  /// Whether a probe shall go right before the next data packet: headers alone, outside the
  /// sequence, never answered or repeated. Asked only of protocols with a receiver's law.
  [[nodiscard]] virtual bool probe_due() const { return false; }
  /// Writes the congestion header of that probe, a packet of `size` B.
  virtual void write_probe(const FlowState&, uint32_t /*size*/, uint8_t* /*header*/) {}

  /// The handshake, or a data packet, was acknowledged for the first time; `header` is the
  /// congestion header as the receiver echoed it. False: the echo is not believable; the packet
  /// counts as delivered but its feedback was ignored.
  virtual bool on_syn_ack(const FlowState&, const PacketNote&, const uint8_t* header) = 0;
  virtual bool on_ack(const FlowState&, const PacketNote&, const uint8_t* header) = 0;
  /// Acknowledged by a range or cumulatively, its own ACK having been lost: no fresh feedback.
  virtual void on_ack_without_feedback(const FlowState&, const PacketNote&) = 0;
  virtual void on_loss(const FlowState&, const PacketNote&) = 0;
  /// Nothing was heard for the retransmission time-out. on_loss() for what was lost comes after.
  virtual void on_timeout(const FlowState&) {}

  /// For so long the flow sent nothing although it might have: its host had nothing to send, or did
  /// not run. The transport does not make up for it.
  virtual void on_pause(const FlowState&, Nanos /*idle*/) {}

  /// How fast to send now; the transport paces every packet at this rate.
  [[nodiscard]] virtual BitRate rate(const FlowState&) const = 0;
  /// Not slower than this, whatever rate() says: a flow must hear from its path to follow it.
  [[nodiscard]] virtual BitRate least_rate(const FlowState& s) const {
    return from_bytes_per_second(s.packet_size / to_seconds(s.smoothed_rtt));
  }
  /// How long the first data packet waits after the handshake.
  [[nodiscard]] virtual Nanos first_wait(const FlowState&) const { return Nanos(0); }
  /// How many bytes may be in flight; infinity for purely paced schemes.
  [[nodiscard]] virtual double window(const FlowState&) const {
    return std::numeric_limits<double>::infinity();
  }

  /// Least retransmission time-out. RFC 6298 (2.4) says 1 s and Linux 200 ms: what a delayed ACK
  /// may take. Ours are never delayed.
  [[nodiscard]] virtual Nanos least_timeout() const { return 200_ms; }

  /// What the flow may spend now: w_i. A floor under its rate may take more.
  [[nodiscard]] virtual Budget granted() const { return Budget(0); }
  /// Budget the network counts on for this flow, pending commitments included: w_i + pend_i, $/s.
  [[nodiscard]] virtual double committed() const { return 0; }
  /// Price of the path as last fed back, 0 if the scheme has none.
  [[nodiscard]] virtual Price price() const { return Price(0); }
};

}  // namespace turnpike
