// SPDX-License-Identifier: BSD-3-Clause
// Answers of `show`: a running router's state as JSON.
#pragma once

#include <tl/expected.hpp>

#include "router/program/control_server.h"
#include "router/program/engine.h"
#include "router/results/sampler.h"

namespace turnpike::router {

/// The state that `show` reads.
struct Shown {
  Engine& engine;
  const config::Topology& topology;
  size_t node;  // index of the router
  const Snapshot& snapshot;
  const Sample& sample;  // the last interval's rates
  Nanos uptime;
};

/// Answers {"request":"show","what":WHAT}, and "link" where WHAT asks for one.
tl::expected<Json, Failure> show(const Json& request, const Shown& on);

}  // namespace turnpike::router
