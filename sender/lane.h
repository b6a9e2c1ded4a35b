// SPDX-License-Identifier: BSD-3-Clause
// What the hosts of one lcore share; nobody else touches it.
#pragma once

#include <memory>

#include "common/time/timer_wheel.h"
#include "sender/flow_table.h"
#include "sender/observed.h"
#include "sender/outstanding.h"
#include "sender/sizing.h"

struct rte_mempool;

namespace turnpike::sender {

struct LaneOptions {
  Sizing size;
  size_t groups = 0;  // entries of the topology's traffic
  rte_mempool* pool = nullptr;
  bool zeroed = false;
  OutcomeSink& outcomes;
  unsigned tick_shift = 0;
};

struct Lane {
  explicit Lane(const LaneOptions& o)
      : wheel(Nanos(0), o.tick_shift, TimerWheel::block_bits_for(o.size.flows)),
        flows(o.size.flows),
        records(o.size.records),
        groups(std::make_unique<GroupTotals[]>(o.groups)),
        pool(o.pool),
        zeroed(o.zeroed),
        outcomes(o.outcomes) {}

  TimerWheel wheel;
  FlowTable flows;
  RecordPool records;
  std::unique_ptr<GroupTotals[]> groups;
  rte_mempool* pool;
  bool zeroed;  // the pool's buffers hold zeros beyond the end of their last frame
  OutcomeSink& outcomes;
  Nanos awake{0};  // end of the last stall
};

}  // namespace turnpike::sender
