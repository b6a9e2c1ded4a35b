// SPDX-License-Identifier: BSD-3-Clause
// Compiles a function for several targets; the machine at run time decides which runs.
#pragma once

// Sanitizers cannot resolve function clones before they are initialised; clang 14 has no clones.
#if defined(__clang__) || defined(TURNPIKE_INSTRUMENTED)
#define TURNPIKE_WIDEST
#else
#define TURNPIKE_WIDEST [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#endif
