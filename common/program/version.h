// SPDX-License-Identifier: BSD-3-Clause
// Versions of Turnpike, of its commit and of DPDK, as the programs print them.
#pragma once

#include <string>
#include <string_view>

namespace turnpike {

/// Turnpike's version in meson.build: "0.2.0".
std::string_view project_version();

/// The commit of the build, at least 7 hex digits, with "-dirty" if files differed from it;
/// "unknown" without git or outside a clone.
std::string_view commit();

/// "PROGRAM 0.2.0 (commit abcdef1, DPDK 22.11.3)". Names the loaded DPDK and, if different, the one
/// that was compiled against.
std::string version_line(std::string_view program);

}  // namespace turnpike
