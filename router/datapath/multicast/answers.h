// SPDX-License-Identifier: BSD-3-Clause
// Joins the answers that a tree's branches send to its root.
#pragma once

#include "router/datapath/multicast/tree_state.h"
#include "router/datapath/worker_context.h"

namespace turnpike::router {

enum class AnswerResult : uint8_t {
  kSend,   // the packet is now the joined answer, to be sent upstream: hop, link and size are set
  kTaken,  // its branch's answer is noted, and the packet is no longer needed
  kDrop,
};

struct AnswerOutcome {
  AnswerResult result = AnswerResult::kTaken;
  DropReason why = DropReason::kNone;
};

/// Handles an answer that came from a branch of `tree`, whose state is `state`. Used by
/// MulticastState::kOwner. Trusts no field: an answer to a packet that has not passed here begins
/// no flow.
AnswerOutcome take_answer(rte_mbuf& m, PacketInfo& p, const TreeEntry& tree, TreeState& state,
                          Nanos now);

}  // namespace turnpike::router
