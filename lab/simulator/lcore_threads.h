// SPDX-License-Identifier: BSD-3-Clause
// Threads that simulate parts of a world.
#pragma once

#include <rte_lcore.h>

#include "common/parallel/threads.h"

namespace turnpike::lab {

/// Hooks of threads that EAL knows, so that each has a cache of its own in pools of packet buffers.
/// A thread gives its lcore id back as it ends: EAL must run until then.
inline constexpr ThreadHooks kLcoreHooks{
    // A thread without an lcore id, if EAL has none left, works without caches.
    .begin =
        [] {
          if (rte_lcore_id() == LCORE_ID_ANY) rte_thread_register();
        },
    .end = [] { rte_thread_unregister(); }};

}  // namespace turnpike::lab
