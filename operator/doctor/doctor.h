// SPDX-License-Identifier: BSD-3-Clause
// The answers of `turnpike doctor`, for itself and for `turnpike support`.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "operator/client.h"
#include "operator/doctor/checks.h"

namespace turnpike::ops {

Json findings_json(const Findings& findings);
/// Drivers and firmware of the kernel interfaces that the file's links are attached to.
Json drivers_json(const Machine& machine, const Wanted& wanted);
std::string findings_text(const Findings& findings);

/// Version and name of the running router, if one answers; null: none does.
Json router_facts(const Where& where);

}  // namespace turnpike::ops
