// SPDX-License-Identifier: BSD-3-Clause
// Whether sanitizers watch this build. Tests that repeat the same code over many draws do so less
// often then: the plain build judges their figures, and memory is the same in a tenth of them.
#pragma once

namespace turnpike {

#ifdef TURNPIKE_INSTRUMENTED
constexpr bool kInstrumented = true;
#else
constexpr bool kInstrumented = false;
#endif

}  // namespace turnpike
