// SPDX-License-Identifier: BSD-3-Clause
// Collects packets that the router originates and passes them through forward(), as received ones.
#pragma once

#include "router/datapath/forward.h"
#include "router/datapath/tunnel/tunnels.h"

namespace turnpike::router {

/// A burst of originated packets. Create one per poll; the destructor flushes.
class LocalTx {
 public:
  LocalTx(WorkerContext& context, Nanos now) : LocalTx(context, now, now) {}
  /// `since`: as Burst::since.
  LocalTx(WorkerContext& context, Nanos now, Nanos since) : context_(context) {
    burst_.now = now;
    burst_.since = since;
  }
  LocalTx(const LocalTx&) = delete;
  LocalTx& operator=(const LocalTx&) = delete;
  ~LocalTx() { flush(); }

  /// Takes ownership of a frame with complete PacketInfo (hop, link and size set; the
  /// hop stays valid until flush()). The caller counts it as originated, unless it is a fragment
  /// that replaces the original packet.
  void add(rte_mbuf* m, const PacketInfo& p) {
    if (burst_.count == kBurst) flush();
    burst_.forward |= 1U << burst_.count;
    burst_.mbufs[burst_.count] = m;
    burst_.info[burst_.count++] = p;
  }

  /// Passes the collected packets through forward() and frees those that it drops.
  void flush() {
    if (context_.tunnels != nullptr) [[unlikely]]
      enter_tunnels();
    forward(burst_, context_);
    if (burst_.dropped != 0) show_dropped(context_, burst_);
    context_.sweep(burst_);
    burst_.count = 0;
  }

 private:
  /// Fragments of customers' packets, which fit their tunnel.
  void enter_tunnels() {
    context_.tunnels->enter(burst_, context_);
    for_each(burst_.oversized, [&](unsigned i) { burst_.drop(i, DropReason::kTooBig); });
  }

  WorkerContext& context_;
  Burst burst_;
};

}  // namespace turnpike::router
