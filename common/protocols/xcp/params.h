// SPDX-License-Identifier: BSD-3-Clause
// XCP's parameters with the paper's values. The enums index ParamValues.
#pragma once

#include <array>

#include "common/protocols/coexistence/params.h"
#include "common/protocols/param.h"

namespace turnpike::xcp {

enum LinkParam : size_t {
  kAlpha,
  kBeta,
  kGamma,
  kFirstRtt,
  kMinInterval,
  kMaxInterval,
  kTestEvery,
  kResidues,
  kOwnLinkParamCount  // coexistence's follow
};

/// How feedback that an upstream link has lowered is charged to this link's remaining total:
/// increases less decreases equal the flow's feedback, or as the paper's pseudo-code has it.
enum class Residues { kNet, kPrinted };
inline constexpr std::array<std::string_view, 2> kResidueRules{"net", "printed"};

inline constexpr std::array<ParamSpec, kOwnLinkParamCount> kOwnLinkParams{{
    {"alpha", ParamUnit::kNumber, 0.4, 0, 10, "gain on spare capacity, eq 1"},
    {"beta", ParamUnit::kNumber, 0.226, 0, 10, "gain on the persistent queue, eq 1"},
    {"gamma", ParamUnit::kNumber, 0.1, 0, 1, "share of the traffic that is shuffled, eq 2"},
    {"first_rtt", ParamUnit::kTime, 0.1, 1e-6, 10, "average round trip before any is known"},
    {"least_interval", ParamUnit::kTime, 1e-3, 1e-6, 10, "least control interval"},
    {"most_interval", ParamUnit::kTime, 10, 1e-6, 60, "largest control interval"},
    {"test_every", ParamUnit::kTime, 0, 0, 3600,
     "interval of responsiveness tests, section 7; 0: none"},
    {"residues", ParamUnit::kWord, 0, 0, 1,
     "how feedback that another link has lowered is charged; net: increases less decreases equal "
     "the flow's feedback; printed: the paper's pseudo-code, which leaves more of the link idle",
     kResidueRules},
}};
inline constexpr auto kLinkParams = coexistence::with_tcp(kOwnLinkParams);

enum FlowParam : size_t { kPrice, kFirstWindow, kDeaf, kClaimedRtt, kFlowParamCount };

inline constexpr std::array<ParamSpec, kFlowParamCount> kFlowParams{{
    {"price", ParamUnit::kNumber, 1, 1e-6, 1e6,
     "price that the flow's user pays per time; throughputs at a bottleneck are proportional to "
     "it"},
    {"first_window", ParamUnit::kNumber, 1, 1, 1000, "packets"},
    {"deaf", ParamUnit::kNumber, 0, 0, 1, "1: misbehaves, ignoring decreases"},
    {"claimed_rtt", ParamUnit::kNumber, 1, 1e-3, 1e3,
     "factor on the round trip in headers; 1: correct"},
}};

inline constexpr std::array<Preset::Value, 1> kPrinted{{
    {true, "residues", static_cast<double>(Residues::kPrinted)},
}};
inline constexpr std::array<Preset, 2> kPresets{{
    {"paper", "XCP as published (SIGCOMM 2002), with the residues of its printed program",
     kPrinted},
    {"friendly", "TCP has a queue of its own, over RED, and a fair share of the link (section 8.2)",
     coexistence::kFriendly},
}};

}  // namespace turnpike::xcp
