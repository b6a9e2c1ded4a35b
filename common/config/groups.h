// SPDX-License-Identifier: BSD-3-Clause
// Links that groups of customers share.
#pragma once

#include "common/config/topology.h"

namespace turnpike::config {

/// Whether groups share a link with this law by their weights.
bool has_groups(const LawChoice& law);
/// Whether they do so on any link.
bool has_groups(const Topology& topology);

}  // namespace turnpike::config
