// SPDX-License-Identifier: BSD-3-Clause
// TCP at the sender: NewReno's window, with selective acknowledgements and ECN.
#pragma once

#include <limits>

#include "common/protocols/aqm/meter.h"
#include "common/protocols/flow_law.h"
#include "common/protocols/tcp/header.h"
#include "common/protocols/tcp/params.h"

namespace turnpike::tcp {

/// RFC 5681 with the recovery of RFC 6582 and 6675: slow start; a packet more per window; half of
/// it at the first loss or mark of a window; one packet after a time-out. The transport
/// detects losses, by SACK or one per round trip, and counts only bytes in flight, so the window
/// itself does not inflate. Without SACK, duplicate ACKs do not grow it either.
///
/// Windows are numbered, and every packet notes the number of its window. Losses and marks of
/// packets sent before the last reduction cause no further one ("recover" of RFC 6582, CWR of RFC
/// 3168).
class Flow final : public FlowLaw {
 public:
  explicit Flow(const ParamValues& params);

  void set_target(Budget) override {}

  double write_syn(const FlowState&, uint32_t, uint8_t* header, PacketNote&) override;
  double write_data(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;
  double write_fin(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;

  Opening on_syn_ack(const FlowState&, const PacketNote&, const uint8_t* header) override;
  Allowance on_ack(const FlowState&, const PacketNote&, const uint8_t* header) override;
  Allowance on_ack_without_feedback(const FlowState&, const PacketNote&) override;
  Allowance on_loss(const FlowState&, const PacketNote&) override;
  Allowance on_timeout(const FlowState&) override;
  Allowance on_pause(const FlowState&, Nanos idle) override;

 private:
  /// ACKs are the clock: packets are not paced.
  [[nodiscard]] Allowance allow(const FlowState& s, bool credible = true) const {
    return {.rate = std::numeric_limits<double>::infinity(),
            .floor = packet_per_round_trip(s),
            .window = window_,
            .credible = credible};
  }
  void reduce(const FlowState&, const PacketNote&);
  void grow(const FlowState&, const PacketNote&);

  bool ecn_, promised_, sack_;
  bool timed_out_ = false;  // and nothing has been acknowledged since
  uint32_t number_ = 0;     // of the window
  float first_window_;      // packets
  Nanos least_timeout_;
  double window_ = 0;  // B
  double threshold_;   // B, of slow start
  aqm::Meter meter_;
};

}  // namespace turnpike::tcp
