// SPDX-License-Identifier: BSD-3-Clause
// Settings that make a run's file use the scheme that the run names.
#pragma once

#include <vector>

#include <tl/expected.hpp>

#include "lab/paper/index.h"

namespace turnpike::lab {

/// The run's settings and those that make all of its file run its scheme, as with `turnpike lab
/// --compare`; or the mistakes of its file.
tl::expected<std::vector<config::Setting>, std::vector<config::Mistake>> settings_of(
    const RunSpec& run);

}  // namespace turnpike::lab
