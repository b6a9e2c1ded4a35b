// SPDX-License-Identifier: BSD-3-Clause
// The receiving end of a host's streams: counts, checks numbers, takes times.
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

/// One stream as it arrives.
class Counted {
 public:
  void note(const Probe& probe, uint32_t datagram, Nanos now);
  [[nodiscard]] const Arrivals& arrivals() const { return arrivals_; }
  /// One more than the greatest number that came.
  [[nodiscard]] uint64_t next() const { return check_.next(); }

 private:
  SequenceCheck check_;
  Arrivals arrivals_;
};

class StreamReceiver {
 public:
  StreamReceiver(const config::Topology& topology, uint32_t host);

  /// Takes the payload of a UDP packet to the streams' port, `datagram` B with its headers; false
  /// if it is none of this host's streams.
  bool receive(std::span<const uint8_t> payload, uint32_t datagram, Nanos now);

  /// Null unless that one of Topology::streams comes here.
  [[nodiscard]] const Counted* stream(size_t index) const { return streams_[index].get(); }
  /// Whether nothing can be under way to this host any more, its senders having stopped at `end`.
  [[nodiscard]] bool settled(Nanos end, Nanos now) const {
    return now >= std::max(end, heard_) + patience_;
  }

 private:
  std::vector<std::unique_ptr<Counted>> streams_;  // by Topology::streams
  Nanos patience_{0};  // what the longest way takes with full buffers, and some more
  Nanos heard_{0};
};

}  // namespace turnpike::sender
