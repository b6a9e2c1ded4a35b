// SPDX-License-Identifier: BSD-3-Clause
// Whether the build has sanitizers. Tests that repeat the same code over many draws use fewer of
// them then: the plain build checks their figures, and a tenth of them suffices for memory errors.
#pragma once

namespace turnpike {

#ifdef TURNPIKE_INSTRUMENTED
constexpr bool kInstrumented = true;
#else
constexpr bool kInstrumented = false;
#endif

}  // namespace turnpike
