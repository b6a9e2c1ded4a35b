// SPDX-License-Identifier: BSD-3-Clause
// Source address validation by reverse path (RFC 3704, RFC 8704), on links that ask for it.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Drops the packets in Burst::forward whose source address fails `check` on Burst::input
/// (kSourceCheck): one bulk lookup per family in the routing table. Link-local sources and the
/// unspecified address pass: the router never forwards them. After parse(), before lookup().
void check_sources(Burst& burst, config::SourceCheck check, const WorkerContext& context);

}  // namespace turnpike::router
