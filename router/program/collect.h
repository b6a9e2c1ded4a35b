// SPDX-License-Identifier: BSD-3-Clause
// Reads all figures of the running router.
#pragma once

#include "router/program/engine.h"
#include "router/telemetry/figures.h"

namespace turnpike::router {

/// Times of the process.
struct ReadAt {
  Nanos now{0};             // of the router's clock
  double unix_now = 0;      // UNIX time, s
  double started = 0;       // the same when the clock was 0
  uint64_t generation = 1;  // of the configuration
};

/// The workers go on meanwhile, so their counters are read at slightly different times. Control
/// thread. `node`: the router's name.
Figures collect(const Engine& engine, const std::string& node, const ReadAt& at);

}  // namespace turnpike::router
