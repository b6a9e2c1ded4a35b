// SPDX-License-Identifier: BSD-3-Clause
// Interface of a congestion control scheme's sender part, one object per flow.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "common/units/units.h"

namespace turnpike {

/// The transport's state of the flow, at each call of its law.
struct FlowState {
  Nanos now{0};
  Nanos rtt{0};              // latest sample; 0 until the handshake measures one
  Nanos smoothed_rtt{0};     // SRTT of RFC 6298; 0 likewise
  Nanos answered_after{0};   // since the acknowledged packet was sent, stalls of this host included
  uint32_t packet_size = 0;  // B of a full packet (IP datagram)
  double in_flight = 0;      // B neither acknowledged nor lost before this call
  bool out_of_order = false;  // on ACKs: an earlier packet of the flow is still missing
  double unsent = std::numeric_limits<double>::infinity();    // B still to send; infinity: endless
  double limit = std::numeric_limits<double>::infinity();     // B/s the application can send
  double line = std::numeric_limits<double>::infinity();      // B/s that the host's port carries
  double headroom = std::numeric_limits<double>::infinity();  // $/s the host may still promise
};

/// A law's data for one packet in flight. The transport returns it with the packet's ACK or loss.
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
  /// B/s. The transport paces at least this fast, also if `rate` is lower: a flow needs feedback to
  /// follow its path.
  double floor = 0;
  double window = std::numeric_limits<double>::infinity();  // B in flight; infinity: paced only
  double granted = 0;    // $/s that the flow may spend now: w_i. `floor` may cost more.
  double committed = 0;  // $/s that links may count on, pending promises included: w_i + pend_i
  double price = 0;      // $/B of the path by the last feedback; 0: the scheme has no prices
  bool credible = true;  // false: the law ignored the event's feedback as invalid
  bool probe = false;    // send a probe right before the next data packet; see write_probe()
};

/// A law's decision after the handshake, with constants for the flow's life.
struct Opening {
  Allowance allowance;
  Nanos first_wait{0};  // from the end of the handshake to the first data packet
  /// Minimum RTO. RFC 6298 (2.4) sets 1 s, Linux 200 ms, to allow for delayed ACKs. Turnpike's
  /// receivers do not delay ACKs.
  Nanos least_timeout = 200_ms;
  /// Whether the ranges of ACKs tell which packets are lost (RFC 6675). Without them the transport
  /// finds one lost packet per round trip and sends it again at once (NewReno, RFC 6582).
  bool sack = true;
};

/// The default Allowance::floor: one full packet per RTT, B/s.
inline double packet_per_round_trip(const FlowState& s) {
  return s.packet_size / to_seconds(s.smoothed_rtt);
}

/// The law of one flow. The transport owns sequence numbers, timers and retransmission; the law
/// owns the congestion header and decides the rate. Each event is one call, and its result replaces
/// the flow's Allowance. No call allocates, reads a clock or draws random numbers. The flow's lcore
/// makes all calls. The law does not trust feedback: it ignores invalid fields.
class FlowLaw {
 public:
  /// Upper bound of the size of any protocol's law, B.
  static constexpr size_t kMaxBytes = 128;

  virtual ~FlowLaw() = default;

  /// Sets the flow's budget (FCP's x_i) in $/s; other schemes may use it as a weight. Takes effect
  /// with the next packet and the next event.
  virtual void set_target(Budget target) = 0;

  /// Write the congestion header of a SYN, data packet or FIN of `size` B. Return
  /// Allowance::committed with that packet in flight, $/s.
  [[nodiscard]] virtual double write_syn(const FlowState&, uint32_t size, uint8_t* header,
                                         PacketNote&) = 0;
  [[nodiscard]] virtual double write_data(const FlowState&, uint32_t size, uint8_t* header,
                                          PacketNote&) = 0;
  [[nodiscard]] virtual double write_fin(const FlowState&, uint32_t size, uint8_t* header,
                                         PacketNote&) = 0;
  /// Writes the congestion header of a probe of `size` B: a packet of headers alone, outside the
  /// sequence, never acknowledged or retransmitted. Called right before write_data() if
  /// Allowance::probe is set. Only laws of protocols with a ReceiverLaw set it.
  virtual void write_probe(const FlowState&, uint32_t /*size*/, uint8_t* /*header*/) {}

  /// The SYN or a data packet was acknowledged for the first time. `header`: the congestion header
  /// that the receiver echoed. Allowance::credible is false if the law ignored it; the packet
  /// counts as delivered in any case.
  [[nodiscard]] virtual Opening on_syn_ack(const FlowState&, const PacketNote&,
                                           const uint8_t* header) = 0;
  [[nodiscard]] virtual Allowance on_ack(const FlowState&, const PacketNote&,
                                         const uint8_t* header) = 0;
  /// A later ACK acknowledged the packet, cumulatively or by a range: without feedback on it.
  [[nodiscard]] virtual Allowance on_ack_without_feedback(const FlowState&, const PacketNote&) = 0;
  /// The packet is lost and will be retransmitted.
  [[nodiscard]] virtual Allowance on_loss(const FlowState&, const PacketNote&) = 0;
  /// The RTO expired without an ACK. on_loss() for the lost packets follows.
  [[nodiscard]] virtual Allowance on_timeout(const FlowState&) = 0;
  /// The flow sent nothing for `idle` although it was allowed to: its host had no data or did not
  /// run. The transport does not send the missed packets later.
  [[nodiscard]] virtual Allowance on_pause(const FlowState&, Nanos idle) = 0;
};

}  // namespace turnpike
