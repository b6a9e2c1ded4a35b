// SPDX-License-Identifier: BSD-3-Clause
// Answers ARP requests (RFC 826) and neighbour solicitations (RFC 4861).
#pragma once

#include "common/config/topology.h"

struct rte_mbuf;

namespace turnpike::sender {

enum class NeighbourQuery : uint8_t {
  kNone,      // the frame is no query
  kIgnored,   // a query for another address, or malformed
  kAnswered,  // the buffer now holds the answer
};

/// Rewrites a query for `own` into its answer, in place. Routers of a topology know their
/// neighbours; kernels on a shared segment send queries. `m` has one segment.
NeighbourQuery answer_neighbour(rte_mbuf& m, const config::Interface& own);

}  // namespace turnpike::sender
