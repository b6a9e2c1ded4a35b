// SPDX-License-Identifier: BSD-3-Clause
// TCP at the sender: NewReno's window, with selective acknowledgements and ECN.
#pragma once

#include "common/protocols/aqm/meter.h"
#include "common/protocols/flow_law.h"
#include "common/protocols/tcp/header.h"
#include "common/protocols/tcp/params.h"

namespace turnpike::tcp {

/// RFC 5681 with the recovery of RFC 6582 and 6675: slow start; a packet more per window; half of
/// it at the first loss or mark of a window; one packet after a time-out. The transport knows by
/// SACK what is lost and counts only what is in flight, so the window itself does not inflate.
///
/// A window is told from the next by its number, which every packet notes: what happens to packets
/// sent before the last reduction is that reduction's affair ("recover" of RFC 6582, CWR of RFC
/// 3168).
class Flow final : public FlowLaw {
 public:
  explicit Flow(const ParamValues& params);

  void set_target(Budget) override {}

  void write_syn(const FlowState&, uint32_t, uint8_t* header, PacketNote&) override;
  void write_data(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;
  void write_fin(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;

  bool on_syn_ack(const FlowState&, const PacketNote&, const uint8_t* header) override;
  bool on_ack(const FlowState&, const PacketNote&, const uint8_t* header) override;
  void on_ack_without_feedback(const FlowState&, const PacketNote&) override;
  void on_loss(const FlowState&, const PacketNote&) override;
  void on_timeout(const FlowState&) override;
  void on_pause(const FlowState&, Nanos idle) override;

  [[nodiscard]] BitRate rate(const FlowState&) const override;
  [[nodiscard]] double window(const FlowState&) const override { return window_; }
  [[nodiscard]] Nanos least_timeout() const override { return least_timeout_; }

 private:
  void reduce(const FlowState&, const PacketNote&);
  void grow(const FlowState&, const PacketNote&);

  bool ecn_, promised_;
  bool timed_out_ = false;  // and nothing has been acknowledged since
  uint32_t number_ = 0;     // of the window
  float first_window_;      // packets
  Nanos least_timeout_;
  double window_ = 0;  // B
  double threshold_;   // B, of slow start
  aqm::Meter meter_;
};

}  // namespace turnpike::tcp
