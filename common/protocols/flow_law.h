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

/// A law's decision for its flow after an event. It holds until the next event.
struct Allowance {
  double rate = 0;  // B/s; the transport paces every packet at this rate
  /// B/s. The transport paces no slower, whatever `rate` says: a flow must hear from its path to
  /// follow it.
  double floor = 0;
  double window = std::numeric_limits<double>::infinity();  // B in flight; infinity: paced only
  double granted =
      0;  // $/s that the flow may spend now: w_i. A floor under its rate may take more.
  double committed =
      0;             // $/s that the network counts on, pending commitments included: w_i + pend_i
  double price = 0;  // $/B of the path as last fed back, 0 if the scheme has none
  bool credible = true;  // false: the event's feedback was not, and was ignored
  bool probe = false;    // a probe goes right before the next data packet; see write_probe()
};

/// A law's decision when the handshake is over, and what it fixes for the flow's life.
struct Opening {
  Allowance allowance;
  Nanos first_wait{0};  // the first data packet waits this long after the handshake
  /// Least retransmission time-out. RFC 6298 (2.4) says 1 s, Linux 200 ms, to allow for delayed
  /// ACKs. Turnpike's receivers delay none.
  Nanos least_timeout = 200_ms;
};

/// The usual Allowance::floor: a full packet per round trip, B/s.
inline double packet_per_round_trip(const FlowState& s) {
  return s.packet_size / to_seconds(s.smoothed_rtt);
}

/// A law of one flow: events in, one decision out. The transport owns sequence numbers, timers and
/// retransmission; the law owns the congestion header and decides how fast. Each event is one call,
/// and its answer replaces the flow's Allowance. No call allocates, reads a clock or draws random
/// numbers. Feedback is not trusted: fields that are not credible are refused, never applied.
class FlowLaw {
 public:
  /// Room that the transport keeps for any protocol's law.
  static constexpr size_t kMaxBytes = 128;

  virtual ~FlowLaw() = default;

  /// Budget this flow should use from now on (FCP's x_i); other schemes take it as a weight. Takes
  /// effect with the next packet and the next event.
  virtual void set_target(Budget target) = 0;

  /// Write the congestion header of a SYN of `size` bytes, of a data packet, or of a FIN. Return
  /// Allowance::committed with that packet in flight, $/s.
  [[nodiscard]] virtual double write_syn(const FlowState&, uint32_t size, uint8_t* header,
                                         PacketNote&) = 0;
  [[nodiscard]] virtual double write_data(const FlowState&, uint32_t size, uint8_t* header,
                                          PacketNote&) = 0;
  [[nodiscard]] virtual double write_fin(const FlowState&, uint32_t size, uint8_t* header,
                                         PacketNote&) = 0;
  /// Writes the congestion header of a probe of `size` B: headers alone, outside the sequence,
  /// never acknowledged or repeated. Called right before write_data() where Allowance::probe says
  /// so, which only laws of protocols with a ReceiverLaw do.
  virtual void write_probe(const FlowState&, uint32_t /*size*/, uint8_t* /*header*/) {}

  /// The handshake, or a data packet, was acknowledged for the first time; `header` is the
  /// congestion header as the receiver echoed it. Allowance::credible says whether the law took it;
  /// the packet counts as delivered anyway.
  [[nodiscard]] virtual Opening on_syn_ack(const FlowState&, const PacketNote&,
                                           const uint8_t* header) = 0;
  [[nodiscard]] virtual Allowance on_ack(const FlowState&, const PacketNote&,
                                         const uint8_t* header) = 0;
  /// Acknowledged by a range or cumulatively, its own ACK having been lost: no fresh feedback.
  [[nodiscard]] virtual Allowance on_ack_without_feedback(const FlowState&, const PacketNote&) = 0;
  /// The packet is lost and will be sent again.
  [[nodiscard]] virtual Allowance on_loss(const FlowState&, const PacketNote&) = 0;
  /// Nothing was heard for the retransmission time-out. on_loss() for the lost packets comes after.
  [[nodiscard]] virtual Allowance on_timeout(const FlowState&) = 0;
  /// The flow sent nothing for `idle` although it might have: its host had nothing to send, or did
  /// not run. The transport does not make up for it.
  [[nodiscard]] virtual Allowance on_pause(const FlowState&, Nanos idle) = 0;
};

}  // namespace turnpike
