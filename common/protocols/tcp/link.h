// SPDX-License-Identifier: BSD-3-Clause
// A queue discipline at a router's egress link.
#pragma once

#include <memory>

#include "common/protocols/link_law.h"
#include "common/protocols/param.h"

namespace turnpike::tcp {

/// The law of a link with the discipline that `params` name. It manages whatever crosses the link,
/// ordinary traffic and other protocols' too: TCP's own packets are marked in their header, others
/// by IP's ECN bits, and what may not be marked is dropped (RFC 3168).
std::unique_ptr<LinkLaw> make_link(const ParamValues& params, unsigned shards, uint64_t seed = 1);

}  // namespace turnpike::tcp
