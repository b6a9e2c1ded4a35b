// SPDX-License-Identifier: BSD-3-Clause
// A scratch buffer for a value of each packet of a burst.
#pragma once

#include <array>

#include "router/datapath/burst.h"

namespace turnpike::router {

/// Elements are not initialised: to clear all of them takes longer than to set one.
template <class T>
struct Scratch {
  Scratch() {}  // NOLINT(modernize-use-equals-default): that would be deleted, as the union's is
  union {
    std::array<T, kBurst> of;
  };
};

}  // namespace turnpike::router
