// SPDX-License-Identifier: BSD-3-Clause
// A worker's part of the router's tunnels: what they send, and what other workers hand over.
#include "router/datapath/forward.h"
#include "router/datapath/ingress/parse.h"
#include "router/datapath/lookup/lookup.h"
#include "router/datapath/tunnel/tunnels.h"
#include "router/datapath/worker.h"

namespace turnpike::router {

// Packets that other workers have handed over, packets of tunnels towards the core, and those that
// have left a tunnel.
Nanos Worker::serve_tunnels(Nanos now) {
  Tunnels& tunnels = *context_.tunnels;
  while (tunnels.take_handed(burst_, now)) {
    moved_ = true;
    context_.counters->taken.add(burst_.count);
    lookup(burst_, context_);
    tunnels.enter(burst_, context_);
    if (burst_.apart() != 0) settle_apart();
    egress();
  }
  const Nanos next = tunnels.poll(now);
  for (;;) {
    const Tunnels::Origin origin = tunnels.fill(burst_, now);
    if (origin == Tunnels::Origin::kNothing) return next;
    moved_ = true;
    context_.counters->originated.add(burst_.count);
    if (origin == Tunnels::Origin::kTunnel) parse(burst_, context_);
    lookup(burst_, context_);
    if (origin == Tunnels::Origin::kTunnel) {
      tunnels.restrict(burst_);
    } else if (burst_.dropped != 0) [[unlikely]] {
      tunnels.refused(burst_);
    }
    if (burst_.apart() != 0) settle_apart();
    egress();
  }
}

void Worker::egress() {
  forward(burst_, context_);
  if (burst_.dropped != 0) show_dropped(context_, burst_);
  context_.sweep(burst_);
}

// Workers whose packets end in the rings of others have stopped receiving.
void Worker::discard_handed() {
  bool any = true;
  while (any) {
    any = false;
    while (context_.tunnels->take_handed(burst_, Nanos(0))) {
      any = true;
      context_.counters->taken.add(burst_.count);
      for_each(burst_.forward, [this](unsigned i) { burst_.drop(i, DropReason::kShutdown); });
      context_.sweep(burst_);
    }
  }
}

}  // namespace turnpike::router
