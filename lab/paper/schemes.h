// SPDX-License-Identifier: BSD-3-Clause
// A run's file under the scheme that the run names.
#pragma once

#include <vector>

#include <tl/expected.hpp>

#include "lab/paper/index.h"

namespace turnpike::lab {

/// The run's settings and those that make all of its file run its scheme, as with
/// `turnpike lab --compare`; or what is wrong with its file.
tl::expected<std::vector<config::Setting>, std::vector<config::Mistake>> settings_of(
    const RunSpec& run);

}  // namespace turnpike::lab
