// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/wide_vectors.h"

extern "C" {  // DPDK 22.11 does not say so
#include <rte_vect.h>
}

namespace turnpike {

WideVectors::WideVectors() : before_(rte_vect_get_max_simd_bitwidth()) {
  rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
}

WideVectors::~WideVectors() { rte_vect_set_max_simd_bitwidth(before_); }

}  // namespace turnpike
