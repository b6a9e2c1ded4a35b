// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/tcp/flow.h"

#include <algorithm>

namespace turnpike::tcp {

Flow::Flow(const ParamValues& params)
    : ecn_(params[kEcn] != 0),
      promised_(params[kAllocation] > 0),
      sack_(params[kSack] != 0),
      first_window_(static_cast<float>(params[kFirstWindow])),
      least_timeout_(from_seconds(params[kMinTimeout])),
      threshold_(params[kFirstThreshold]),  // in packets until their size is known
      meter_(params[kAllocation] / 8 * params[kMeterExcess], params[kMeterWindow]) {}

// RFC 3168 6.1.1: a SYN is not ECN-capable.
double Flow::write_syn(const FlowState&, uint32_t, uint8_t* header, PacketNote&) {
  store(0, header);
  return 0;
}

double Flow::write_data(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) {
  uint32_t flags = 0;
  if (ecn_) flags |= kCapable;
  if (promised_ && meter_.take(size, s.now)) flags |= kInProfile;
  store(flags, header);
  note.put(number_);
  return 0;
}

double Flow::write_fin(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) {
  return write_data(s, size, header, note);
}

Opening Flow::on_syn_ack(const FlowState& s, const PacketNote&, const uint8_t*) {
  window_ = static_cast<double>(first_window_) * s.packet_size;
  threshold_ *= s.packet_size;
  timed_out_ = false;
  return {.allowance = allow(s), .least_timeout = least_timeout_, .sack = sack_};
}

Allowance Flow::on_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) {
  const bool marked = (load(header) & kMarked) != 0;
  timed_out_ = false;
  if (marked && !ecn_) return allow(s, false);  // RFC 3168: only ECN-capable packets are marked
  if (marked) {
    reduce(s, note);
  } else {
    grow(s, note);
  }
  return allow(s);
}

Allowance Flow::on_ack_without_feedback(const FlowState& s, const PacketNote& note) {
  timed_out_ = false;
  grow(s, note);
  return allow(s);
}

Allowance Flow::on_loss(const FlowState& s, const PacketNote& note) {
  reduce(s, note);
  return allow(s);
}

void Flow::reduce(const FlowState& s, const PacketNote& note) {
  if (window_ == 0 || note.get<uint32_t>() != number_) return;
  ++number_;
  threshold_ = std::max(window_ / 2, 2.0 * s.packet_size);  // RFC 5681 equation 4
  window_ = threshold_;
}

void Flow::grow(const FlowState& s, const PacketNote& note) {
  const double packet = s.packet_size;
  // In recovery, until what was sent after the reduction is acknowledged, the window stays.
  if (note.get<uint32_t>() != number_) return;
  // Without SACK, recovery lasts until no packet is missing (RFC 6582 section 3.2).
  if (s.out_of_order && !sack_) return;
  // A window that is not used says nothing of what the path would carry (RFC 7661). Slow start
  // doubles what it has shown to be good, so half of it may lie idle.
  if (window_ < threshold_) {
    if (2 * s.in_flight >= window_) window_ = std::min(window_ + packet, threshold_);
  } else if (s.in_flight + packet > window_) {
    window_ += packet * packet / window_;
  }
}

Allowance Flow::on_timeout(const FlowState& s) {
  if (window_ == 0) return allow(s);  // of the SYN
  // RFC 5681 section 3.1: a packet that is lost again says nothing new of the path.
  if (!timed_out_) threshold_ = std::max(window_ / 2, 2.0 * s.packet_size);
  timed_out_ = true;
  window_ = s.packet_size;
  ++number_;
  return allow(s);
}

// RFC 5681 section 4.1: after a time-out's length of silence the path is unknown again.
Allowance Flow::on_pause(const FlowState& s, Nanos idle) {
  if (idle >= least_timeout_ && idle >= s.smoothed_rtt)
    window_ = std::min<double>(window_, static_cast<double>(first_window_) * s.packet_size);
  return allow(s);
}

}  // namespace turnpike::tcp
