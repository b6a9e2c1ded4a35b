// SPDX-License-Identifier: BSD-3-Clause
// Identifies this build of the program.
#pragma once

#include <string>

namespace turnpike::lab {

/// The linker's build ID (ELF note NT_GNU_BUILD_ID), a hash of the program's contents; without one,
/// content_hash() of its file.
std::string own_build();

}  // namespace turnpike::lab
