// SPDX-License-Identifier: BSD-3-Clause
// FCP's parameters with the paper's values. The enums index ParamValues.
#pragma once

#include <array>

#include "common/protocols/param.h"

namespace turnpike::fcp {

enum LinkParam : size_t {
  kAlpha,
  kWindow,
  kFloor,
  kFirstRtt,
  kMinWindow,
  kMaxWindow,
  kMaxCommitment,
  kLinkParamCount
};

inline constexpr std::array<ParamSpec, kLinkParamCount> kLinkParams{{
    {"alpha", ParamUnit::kNumber, 2, 0, 100, "queue gain in the price's denominator, eq 2"},
    {"window", ParamUnit::kNumber, 2, 0.1, 100, "averaging window d, in average round trips"},
    {"floor", ParamUnit::kNumber, 0.5, 0.01, 1,
     "least share of the capacity in eq 2's denominator"},
    {"first_rtt", ParamUnit::kTime, 0.1, 1e-6, 10, "average round trip before any is known"},
    {"min_window", ParamUnit::kTime, 2e-3, 1e-6, 10, "least d"},
    {"max_window", ParamUnit::kTime, 4, 1e-6, 60, "largest d"},
    {"max_commitment", ParamUnit::kNumber, 1e6, 1e-12, 1e18,
     "$/s that one packet may promise; more is refused as unbelievable"},
}};

enum FlowParam : size_t { kSynPackets, kDeadBand, kFlowParamCount };

inline constexpr std::array<ParamSpec, kFlowParamCount> kFlowParams{{
    {"syn_packets", ParamUnit::kNumber, 10, 1, 1000,
     "full packets that the SYN's preload pays for in the first round trip"},
    {"dead_band", ParamUnit::kNumber, 1e-3, 0, 0.5,
     "relative distance from the target budget that is left alone"},
}};

}  // namespace turnpike::fcp
