// SPDX-License-Identifier: BSD-3-Clause
// The ends of tunnels at a router, as its stages see them. A gateway implements it.
#pragma once

#include "common/units/units.h"
#include "router/datapath/burst.h"

namespace turnpike::router {

struct WorkerContext;

/// Called by one worker, between its stages. Takes no lock and does not allocate.
class Tunnels {
 public:
  virtual ~Tunnels() = default;

  /// Fills a burst with packets of one link that other workers have handed over, as they were
  /// before their lookup. False: none is left in this round, and the next call begins another one.
  virtual bool take_handed(Burst& burst, Nanos now) = 0;

  /// After the lookup: takes those packets of `forward` that go through a tunnel. Moves those that
  /// are too large for it to `oversized`, or drops them. Leaves packets that the router originates.
  /// Hands packets that another worker's tunnels take over to that one.
  virtual void enter(Burst& burst, WorkerContext& context) = 0;

  /// Takes the packets of tunnels from `local`, or hands them over to another worker.
  virtual void receive(Burst& burst, WorkerContext& context) = 0;

  /// Runs timers and prepares what is due. Returns the time of the next call.
  virtual Nanos poll(Nanos now) = 0;

  /// Where a burst comes from.
  enum class Origin : uint8_t {
    kNothing,  // no packet waits
    kGateway,  // packets of tunnels towards the core: parsed, kOriginated
    kTunnel,   // packets that have left a tunnel: frames that came by a core link, not parsed
  };
  /// Fills an empty burst with packets that wait.
  virtual Origin fill(Burst& burst, Nanos now) = 0;
  /// After the lookup of packets that have left a tunnel: drops those that do not go to customers.
  virtual void restrict(Burst& burst) = 0;
  /// After the lookup of packets towards the core, of which it has dropped some.
  virtual void refused(const Burst& burst) = 0;

  /// The worker's thread was descheduled until `now`.
  virtual void stalled(Nanos now) = 0;
};

}  // namespace turnpike::router
