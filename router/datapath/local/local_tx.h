// SPDX-License-Identifier: BSD-3-Clause
// Sends packets that the router originates through the same queues as all others.
#pragma once

#include "router/datapath/forward.h"

namespace turnpike::router {

/// Used within one poll; the destructor flushes.
class LocalTx {
 public:
  LocalTx(WorkerContext& context, Nanos now) : context_(context) { burst_.now = now; }
  LocalTx(const LocalTx&) = delete;
  LocalTx& operator=(const LocalTx&) = delete;
  ~LocalTx() { flush(); }

  /// Takes ownership of a frame with complete PacketInfo (hop, link and size set). The caller
  /// counts it as originated, unless it is a fragment that replaces the original packet.
  void add(rte_mbuf* m, const PacketInfo& p) {
    if (burst_.count == kBurst) flush();
    burst_.forward |= 1U << burst_.count;
    burst_.mbufs[burst_.count] = m;
    burst_.info[burst_.count++] = p;
  }

  /// Passes the collected packets through forward().
  void flush() {
    forward(burst_, context_);
    context_.sweep(burst_);
    burst_.count = 0;
  }

 private:
  WorkerContext& context_;
  Burst burst_;
};

}  // namespace turnpike::router
