// SPDX-License-Identifier: BSD-3-Clause
// The production sender with many paced FCP flows, at a port that acknowledges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "bench/answer_port.h"
#include "common/config/topology.h"
#include "common/dpdk/pool.h"
#include "sender/sender.h"

namespace turnpike::bench {

class Sending {
 public:
  static constexpr uint32_t kPacket = 256;  // B, the least a flow's packets may have
  static constexpr double kPps = 4e6;       // of all flows together, by default
  static constexpr int64_t kPerPoll = 32;   // packets that fall due from one poll to the next

  /// Starts `flows` flows, together at `pps`, each with a round trip of `rtt`, in which it must
  /// have a packet due.
  Sending(unsigned flows, double pps, Nanos rtt);
  /// The same with a round trip that lasts for a packet of each flow, since the least rate is one
  /// packet per round trip.
  explicit Sending(unsigned flows, double pps = kPps)
      : Sending(flows, pps, std::max(Nanos(1_ms), from_seconds(2 * flows / pps))) {}

  /// Sends the packets that are due by `now`; returns the number of data packets.
  uint64_t poll(Nanos now);
  /// Polls in virtual time until every flow has started and has its rate; returns that time. Each
  /// poll finds one packet due, so that the flows' turns are spread.
  Nanos warm_up();
  /// Time from one poll to the next at which each poll finds kPerPoll packets due.
  [[nodiscard]] Nanos step() const { return from_seconds(kPerPoll / pps_); }

  [[nodiscard]] AnswerPort& port() { return *port_; }
  [[nodiscard]] sender::Sender& sender() { return *sender_; }
  [[nodiscard]] unsigned flows() const { return flows_; }
  /// Time from one packet of a flow to the next.
  [[nodiscard]] Nanos gap() const { return from_seconds(flows_ / pps_); }

 private:
  class Ignore final : public sender::OutcomeSink {
    void flow_ended(const sender::FlowOutcome&) override {}
  };

  [[nodiscard]] bool at_their_rates();

  unsigned flows_;
  double pps_;
  Nanos rtt_;
  config::Topology topology_;
  Pool pool_;
  std::unique_ptr<AnswerPort> port_;
  Ignore ignore_;
  std::unique_ptr<sender::Sender> sender_;
};

}  // namespace turnpike::bench
