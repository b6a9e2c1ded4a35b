// SPDX-License-Identifier: BSD-3-Clause
// Finds a parameter of a link's law by name, for settings that several laws may have.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "common/config/topology.h"

namespace turnpike::config {

/// Index into LawChoice::params; none if the law has no such parameter, or is not resolved yet.
std::optional<size_t> link_param(const LawChoice& law, std::string_view name);

}  // namespace turnpike::config
