// SPDX-License-Identifier: BSD-3-Clause
// An egress link as one worker sees it.
#pragma once

#include <algorithm>

#include "router/datapath/egress_link.h"
#include "router/datapath/port_sender.h"

namespace turnpike::router {

struct Egress {
  EgressLink* link = nullptr;
  LinkShard* shard = nullptr;    // this worker's
  PortSender* sender = nullptr;  // this worker's queue pair; null: it has none at this port
  HandOff* hand_off = nullptr;   // to the link's owner; null: straight to the sender

  /// Bytes that wait before the link now. At line rate that is what the port has not taken or
  /// what the link cannot have carried yet, whichever is more: both count the same packets.
  [[nodiscard]] double backlog(Nanos now) const {
    const auto queued = static_cast<double>(link->queued());
    if (link->drain == config::Drain::kShaped) return queued;
    return std::max(queued, link->virtual_queue(*shard, now));
  }
};

}  // namespace turnpike::router
