// SPDX-License-Identifier: BSD-3-Clause
// Receives a host's streams: counts packets, checks sequence numbers, measures latencies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/config/topology.h"
#include "sender/open_loop/probe.h"
#include "sender/open_loop/sequence_check.h"
#include "sender/open_loop/totals.h"

namespace turnpike::sender {

/// Counters of one received stream. The lcore calls note(); any thread reads.
class Counted {
 public:
  void note(const Probe& probe, uint32_t datagram, Nanos now);
  [[nodiscard]] const Arrivals& arrivals() const { return arrivals_; }
  /// One more than the greatest sequence number received.
  [[nodiscard]] uint64_t next() const { return check_.next(); }

 private:
  SequenceCheck check_;
  Arrivals arrivals_;
};

class StreamReceiver {
 public:
  StreamReceiver(const config::Topology& topology, uint32_t host);

  /// Counts a packet by its UDP payload; `datagram`: size in B of its IP datagram. False: it
  /// belongs to no stream of this host.
  bool receive(std::span<const uint8_t> payload, uint32_t datagram, Nanos now);

  /// Counters by index into Topology::streams; null: the stream goes to another host.
  [[nodiscard]] const Counted* stream(size_t index) const { return streams_[index].get(); }
  /// Whether no packet can be under way to this host any more; its senders stopped at `end`.
  [[nodiscard]] bool settled(Nanos end, Nanos now) const {
    return now >= std::max(end, last_packet_) + timeout_;
  }

 private:
  std::vector<std::unique_ptr<Counted>> streams_;  // by index into Topology::streams
  Nanos timeout_{0};      // the longest path's delay with full buffers, plus a margin
  Nanos last_packet_{0};  // time of the last packet
};

}  // namespace turnpike::sender
