// SPDX-License-Identifier: BSD-3-Clause
// Connects a memif client, repeatedly, to a server that may be absent, stopped or killed.
//
// The driver connects only when a port starts. A server whose own port has not started yet answers
// "ID not found" and disconnects, so a client must also try again after it was accepted.
#pragma once

#include <cstdint>

namespace turnpike {

/// Stops the port, whose link must be down, and starts it: the driver connects. Both run on the
/// interrupt thread, where the handshake follows. Lcores may poll the port meanwhile: EthQueue
/// skips ports whose link is down. Returns rte_eth_dev_start()'s error.
int reconnect_memif_client(uint16_t port);

}  // namespace turnpike
