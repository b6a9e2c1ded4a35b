// SPDX-License-Identifier: BSD-3-Clause
// A trace, a capture and a sample of flows, or some of them, at one worker.
#pragma once

#include <memory>
#include <vector>

#include "common/dpdk/queue_pair.h"
#include "router/datapath/probe/mirror.h"
#include "router/datapath/probe/trace.h"

namespace turnpike::router {

/// Made and freed by the control thread, used by one worker between Worker::set_probe() calls.
class Probe {
 public:
  /// Any may be null; all outlive the probe.
  struct Parts {
    Trace* trace = nullptr;
    Mirror* mirror = nullptr;  // of a capture
    Mirror* flows = nullptr;   // of sent packets alone, for the figures of flows
  };
  /// `links`: of the router.
  Probe(const Parts& parts, size_t links);
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  ~Probe();

  [[nodiscard]] Trace* trace() const { return parts_.trace; }
  [[nodiscard]] Mirror* mirror() const { return parts_.mirror; }
  [[nodiscard]] bool wants_dropped() const {
    return parts_.mirror != nullptr && parts_.mirror->wants_dropped();
  }
  /// A queue pair that stands before a link's port from now on, so that an unobserved worker has
  /// not a single instruction for it. The port itself where nothing looks at its packets.
  QueuePair& before(unsigned link, QueuePair& port);
  /// A packet that waited for the port of `link`, and is dropped.
  void refused(const rte_mbuf& m, unsigned link, DropReason why, Nanos now) const;

 private:
  class Queue;

  Parts parts_;
  std::vector<std::unique_ptr<Queue>> queues_;  // by link
};

}  // namespace turnpike::router
