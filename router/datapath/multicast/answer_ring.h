// SPDX-License-Identifier: BSD-3-Clause
// Carries answers from a worker to the one that joins the answers of all trees.
#pragma once

#include <cstdint>

#include "router/datapath/burst.h"
#include "router/datapath/entry_ring.h"

namespace turnpike::router {

/// An answer of a tree's receiver.
struct HandedAnswer {
  rte_mbuf* mbuf = nullptr;
  PacketInfo info;
  uint64_t tree = 0;  // index into Tables::trees()
};

using AnswerRing = EntryRing<HandedAnswer>;

}  // namespace turnpike::router
