// SPDX-License-Identifier: BSD-3-Clause
// Whether a run played all that was asked for.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace turnpike::report {

/// One line that says what a run could not play for want of room, by its summary: flows that
/// started late or never, packets that could not be sent or received. Empty where nothing ran out.
std::string limits_text(const nlohmann::json& summary);

}  // namespace turnpike::report
