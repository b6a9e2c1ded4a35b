// SPDX-License-Identifier: BSD-3-Clause
// Monaco at the receiver: the number of a flow's bytes that are queued on its path.
#pragma once

#include "common/protocols/acc/header.h"
#include "common/protocols/receiver_law.h"

namespace turnpike::acc {

/// By Little's law a flow's accumulation is the number of its bytes that arrive between two packets
/// sent back to back: one that never queues (OB) and one that queues like data (IB):
///
///     a = bytes between OB and IB + x t_VD
///
/// x is the rate received since the last pair, t_VD the sum of virtual delays in the OB packet.
/// Counts bytes as of a fluid: IB in full, and of the first packet after OB the fraction of its
/// inter-arrival time that lies after OB. Counting whole packets would miss half a packet on
/// average, a sixth of the target of three.
class Receiver final : public ReceiverLaw {
 public:
  void on_probe(const uint8_t* header, Nanos now) override {
    const Header h = load(header);
    if (h.role != Role::kOutOfBand || !credible(h)) return;
    open_ = first_ = true;
    round_ = h.round;
    virtual_delay_ = h.measure;
    probed_ = now;
    waiting_ = 0;
  }

  void on_data(uint32_t size, uint8_t* header, Nanos now) override {
    if (open_) waiting_ += size * (first_ ? part_after_probe(now) : 1);
    first_ = false;
    last_data_ = now;
    received_ += size;
    Header h = load(header);
    if (h.role != Role::kInBand) return;
    const double virtually = virtual_delay_ * rate(now);
    if (open_ && h.round == round_) {
      h.role = Role::kEstimate;
      h.measure = static_cast<float>(waiting_ + virtually);
      store(h, header);
    }
    open_ = false;
    received_ = 0;
    last_pair_ = now;
  }

 private:
  /// Fraction of a packet arriving now that counts as arrived after the probe; 0 for the flow's
  /// first packet.
  [[nodiscard]] double part_after_probe(Nanos now) const {
    if (last_data_ == Nanos(0) || now == last_data_) return 0;
    return to_seconds(now - probed_) / to_seconds(now - last_data_);
  }
  /// B/s since the last pair; 0 before the first.
  [[nodiscard]] double rate(Nanos now) const {
    return last_pair_ > Nanos(0) && now > last_pair_ ? received_ / to_seconds(now - last_pair_) : 0;
  }

  Nanos probed_{0}, last_data_{0}, last_pair_{0};
  double waiting_ = 0;   // B since OB
  double received_ = 0;  // B since the last IB
  float virtual_delay_ = 0;
  uint16_t round_ = 0;
  bool open_ = false;   // OB arrived, IB is expected
  bool first_ = false;  // no data since OB
};

}  // namespace turnpike::acc
