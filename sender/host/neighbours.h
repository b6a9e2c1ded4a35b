// SPDX-License-Identifier: BSD-3-Clause
// Answers "who has this address?": ARP (RFC 826) and neighbour solicitations (RFC 4861).
#pragma once

#include "common/config/topology.h"

struct rte_mbuf;

namespace turnpike::sender {

enum class NeighbourQuery : uint8_t {
  kNone,      // not a query at all
  kIgnored,   // one for somebody else, or malformed
  kAnswered,  // the buffer holds the answer now
};

/// Routers of a topology know their neighbours, but kernels on a shared segment ask. The frame
/// lies in one segment.
NeighbourQuery answer_neighbour(rte_mbuf& m, const config::Interface& own);

}  // namespace turnpike::sender
