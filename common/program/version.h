// SPDX-License-Identifier: BSD-3-Clause
// The version that programs print: of Turnpike, of its commit and of DPDK.
#pragma once

#include <string>
#include <string_view>

namespace turnpike {

/// Turnpike's version, as meson.build has it: "0.2.0".
std::string_view project_version();

/// The commit that was built, 7 hex digits or more, followed by "-dirty" if files differed from it;
/// "unknown" if git was missing or the sources were no clone.
std::string_view commit();

/// "PROGRAM 0.2.0 (commit abcdef1, DPDK 22.11.3)". Names the DPDK that was loaded, and the DPDK
/// that was compiled against if it is another one.
std::string version_line(std::string_view program);

}  // namespace turnpike
