// SPDX-License-Identifier: BSD-3-Clause
// DPDK 24.11 declares two C functions in rte_ring_elem.h without extern "C". A function keeps the
// linkage of its first declaration, so with such a DPDK meson.build includes this file first in
// every source that uses rte_ring_elem.h.
#pragma once

#include <sys/types.h>

struct rte_ring;

extern "C" {
ssize_t rte_ring_get_memsize_elem(unsigned int esize, unsigned int count);
struct rte_ring* rte_ring_create_elem(const char* name, unsigned int esize, unsigned int count,
                                      int socket_id, unsigned int flags);
}
