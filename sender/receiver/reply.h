// SPDX-License-Identifier: BSD-3-Clause
// Turning a received packet into its own answer, in the same buffer.
#pragma once

#include "common/wire/layers.h"
#include "sender/receiver/receiver.h"

struct rte_mbuf;

namespace turnpike::sender {

/// Swaps the frame's ends, rewrites the Turnpike header as `reply` says and cuts the payload off.
/// The congestion header stays as it came: that is the feedback. `at` and `header` are what the
/// parsers found in the frame, which lies in one segment. False: the buffer has no room for it.
bool write_reply(rte_mbuf& m, const wire::UdpFrame& at, const wire::Header& header,
                 const Reply& reply);

}  // namespace turnpike::sender
