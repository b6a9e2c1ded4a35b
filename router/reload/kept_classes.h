// SPDX-License-Identifier: BSD-3-Clause
// Which classes of a link keep their queues when its configuration changes.
#pragma once

#include "common/config/topology.h"

namespace turnpike::router {

/// Number of first classes whose packets are the same before and after, so that no flow moves to or
/// from them. `before`, `after`: queue classes of the laws. A link without classes in its file
/// keeps all queues of its law or none.
unsigned kept_classes(const config::Direction& running, const config::Direction& wanted,
                      unsigned before, unsigned after);

}  // namespace turnpike::router
