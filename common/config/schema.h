// SPDX-License-Identifier: BSD-3-Clause
// The syntax of topology files as a JSON Schema (draft 7), for editors.
#pragma once

#include <string>

namespace turnpike::config {

/// The text of configs/turnpike.schema.json, made from describe.h and the list of protocols.
std::string schema_text();

}  // namespace turnpike::config
