// SPDX-License-Identifier: BSD-3-Clause
// Connects a memif client, again and again, to a server that may be absent, stopped or killed.
//
// The driver connects when a port starts and never again. A server whose own port has not started
// yet answers "ID not found" and hangs up, so a client must also try again after it was accepted.
#pragma once

#include <cstdint>

namespace turnpike {

/// Stops the port, whose link must be down, and starts it: the driver connects. Both run on the
/// interrupt thread, where the handshake follows; lcores may poll the port meanwhile, because
/// EthQueue leaves ports alone whose link is down. Returns rte_eth_dev_start()'s error.
int reconnect_memif_client(uint16_t port);

}  // namespace turnpike
