// SPDX-License-Identifier: BSD-3-Clause
// Runs a link law at a host's own port, for hosts whose port is the bottleneck.
#pragma once

#include <algorithm>
#include <memory>

#include "common/config/topology.h"
#include "common/protocols/registry.h"

namespace turnpike::sender {

/// Runs a law at the host's end of its link. A flow whose bottleneck is the port then pays a price
/// there as at any link: it does not hold budget that it cannot spend, and flows share the port by
/// budget. The law's queue is virtual: that of a port which sends at the link rate without a pause.
/// Ignores AqmActions and classes, because the port queues no packets.
class Nic {
 public:
  /// `seed`: of the law's random numbers.
  Nic(const config::Direction& d, uint64_t seed)
      : capacity_(bytes_per_second(d.rate)),
        buffer_(static_cast<double>(d.buffer.count())),
        overhead_(static_cast<uint32_t>(d.overhead.count())) {
    const Protocol* p = find_protocol(d.law.protocol);
    if (p == nullptr || p->make_link_law == nullptr) return;
    law_ = p->make_link_law(d.law.params, 1, seed);
    protocol_ = p->id;
  }

  /// Stamps the congestion header of a packet of `datagram` B on its way to the port. A packet of
  /// another protocol than the law's counts, but its header stays. `opens`: the packet is a SYN.
  [[gnu::always_inline]] void stamp(uint8_t protocol, uint8_t* header, uint32_t datagram,
                                    bool opens, Nanos now) {
    if (!law_) return;
    const auto sent = static_cast<double>(now.count() - last_.count()) * 1e-9 * capacity_;
    queue_ = std::max(queue_ - sent, 0.0);
    last_ = now;
    const LinkState state{capacity_, queue_, buffer_};
    if (now >= next_update_) next_update_ = law_->update(state, now);
    LinkPacket packet{.size = datagram + overhead_, .opens = opens};
    if (protocol == protocol_) packet.header = header;
    law_->arrive(0, {&packet, 1}, state, now);
    if (law_->traits().wants_dequeue) law_->depart(0, {&packet, 1}, state, now);
    queue_ += packet.size;
  }

 private:
  std::unique_ptr<LinkLaw> law_;  // null: stamp() does nothing
  double capacity_;               // B/s
  double buffer_;                 // B
  uint32_t overhead_;             // B per packet
  uint8_t protocol_ = 0;
  double queue_ = 0;  // B
  Nanos last_{0};     // time of the last packet
  Nanos next_update_{0};
};

}  // namespace turnpike::sender
