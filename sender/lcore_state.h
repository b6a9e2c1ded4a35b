// SPDX-License-Identifier: BSD-3-Clause
// State that the hosts of one lcore share. Only that lcore accesses it.
#pragma once

#include <algorithm>
#include <memory>

#include "common/time/timer_wheel.h"
#include "sender/connection/flow_table.h"
#include "sender/observed.h"
#include "sender/recovery/in_flight.h"
#include "sender/sizing.h"

struct rte_mempool;

namespace turnpike::sender {

struct LcoreOptions {
  Sizing size;
  size_t groups = 0;  // entries of the topology's traffic
  rte_mempool* pool = nullptr;
  bool zeroed = false;
  OutcomeSink& outcomes;
  unsigned tick_shift = 0;
  RecordPool* records = nullptr;  // shared with other senders of the same thread; null: its own
  bool populated = true;          // touch all memory at construction
  FlowIdCode ids = FlowIdCode();
};

struct LcoreState {
  explicit LcoreState(const LcoreOptions& o)
      : wheel(Nanos(0), o.tick_shift, TimerWheel::block_bits_for(o.size.flows)),
        flows(o.size.flows, o.populated, o.ids),
        own_records(o.records != nullptr
                        ? nullptr
                        : std::make_unique<RecordPool>(
                              std::min(o.size.records, Sizing::kMaxOwnRecords), o.populated)),
        records(o.records != nullptr ? *o.records : *own_records),
        groups(std::make_unique<GroupTotals[]>(o.groups)),
        pool(o.pool),
        zeroed(o.zeroed),
        outcomes(o.outcomes) {}

  TimerWheel wheel;
  FlowTable flows;
  std::unique_ptr<RecordPool> own_records;
  RecordPool& records;
  std::unique_ptr<GroupTotals[]> groups;
  rte_mempool* pool;
  bool zeroed;  // the pool's buffers hold zeros after the end of their last frame
  OutcomeSink& outcomes;
  Nanos last_stall_end{0};  // see Sender::stalled()
};

}  // namespace turnpike::sender
