// SPDX-License-Identifier: BSD-3-Clause
// A law of a link, or the protocol of a flow.
#pragma once

#include <string>

#include "common/protocols/param.h"

namespace turnpike::config {

/// A protocol's law with its parameters, or none: FIFO.
struct LawChoice {
  std::string protocol = "none";
  ParamValues params;
};

}  // namespace turnpike::config
