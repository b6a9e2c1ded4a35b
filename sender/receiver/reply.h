// SPDX-License-Identifier: BSD-3-Clause
// Turns a received packet into its reply, in the same buffer.
#pragma once

#include "common/wire/layers.h"
#include "sender/receiver/receiver.h"

struct rte_mbuf;

namespace turnpike::sender {

/// Swaps source and destination, writes `reply` into the Turnpike header and removes the payload.
/// The congestion header stays: it is the feedback. `at` and `header`: the parsers' results for the
/// frame, which has one segment. False: the buffer has no room for the ranges.
bool write_reply(rte_mbuf& m, const wire::UdpFrame& at, const wire::Header& header,
                 const Reply& reply);

}  // namespace turnpike::sender
