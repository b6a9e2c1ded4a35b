// SPDX-License-Identifier: BSD-3-Clause
// A host's open-loop streams: sends its own, and counts those that it receives.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "sender/lcore_state.h"
#include "sender/open_loop/emitter.h"
#include "sender/open_loop/stream_receiver.h"

namespace turnpike::sender {

class OpenLoop {
 public:
  OpenLoop(const config::Topology& topology, uint32_t host, const LcoreState& lcore)
      : meter_(topology, host) {
    for (size_t i = 0; i < topology.streams.size(); ++i)
      if (topology.streams[i].from == host)
        emitters_.push_back(std::make_unique<Emitter>(topology, static_cast<uint16_t>(i),
                                                      lcore.pool, lcore.zeroed));
  }

  /// Takes buffers from `pool` from now on. The pool was filled with zeros and only streams use it:
  /// all bytes after a frame's probe stay zeros, and need not be cleared.
  void send_from(rte_mempool* pool) {
    for (const auto& e : emitters_) e->send_from(pool);
  }
  /// Appends due packets of all streams to `tx`; returns their number.
  unsigned emit(TxBuffer& tx, Nanos now) {
    unsigned n = 0;
    for (const auto& e : emitters_) n += e->emit(tx, now);
    return n;
  }
  [[nodiscard]] Nanos next_deadline() const {
    Nanos next = kNever;
    for (const auto& e : emitters_) next = min(next, e->next_deadline());
    return next;
  }
  void stop(Nanos now) {
    stopped_ = now;
    for (const auto& e : emitters_) e->stop(now);
  }
  /// Whether no packet of a stream can still arrive. Call after stop().
  [[nodiscard]] bool settled(Nanos now) const { return meter_.settled(stopped_, now); }

  [[nodiscard]] StreamReceiver& meter() { return meter_; }
  [[nodiscard]] const StreamReceiver& meter() const { return meter_; }
  [[nodiscard]] std::span<const std::unique_ptr<Emitter>> emitters() const { return emitters_; }

 private:
  std::vector<std::unique_ptr<Emitter>> emitters_;
  StreamReceiver meter_;
  Nanos stopped_{0};
};

}  // namespace turnpike::sender
