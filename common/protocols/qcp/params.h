// SPDX-License-Identifier: BSD-3-Clause
// QCP's parameters with the paper's values. The enums index ParamValues.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "common/protocols/coexistence/params.h"
#include "common/protocols/explicit_rate/newcomers.h"
#include "common/protocols/param.h"

namespace turnpike::qcp {

enum LinkParam : size_t {
  kAlpha,
  kBeta,
  kInterval,
  kFirstRtt,
  kMaxRtt,
  kFloor,
  kNewcomers,
  kShortLinkParamCount,  // parameters from here on need the inter-byte interval
  kCount = kShortLinkParamCount,
  kPolice,
  kOwnLinkParamCount  // coexistence's follow
};

/// How flows are counted: by their packets' rates (eq 4), also by the link's rate where that is
/// higher (eq 12), or by the link's rate alone (eq 13).
enum class Count { kExact, kSharing, kSimplified };
inline constexpr std::array<std::string_view, 3> kCounts{"exact", "sharing", "simplified"};

/// The fate of packets of flows that exceed their rate (section 10.4). kDemote: they wait in a
/// queue that the link serves when no other packet waits.
enum class Police { kOff, kDrop, kDemote };
inline constexpr std::array<std::string_view, 3> kPolices{"off", "drop", "demote"};

inline constexpr std::array<ParamSpec, kOwnLinkParamCount> kOwnLinkParams{{
    {"alpha", ParamUnit::kNumber, 1, 0.01, 10, "share of the capacity to be used, eq 4"},
    {"beta", ParamUnit::kNumber, 1, 0, 10, "gain on the queue, eq 4"},
    {"interval", ParamUnit::kTime, 0, 0, 60,
     "d, between updates of the rate; 0: the average round trip, two where flows are counted by "
     "the link's own rate; with less, a gain of 1 on the queue overshoots"},
    {"first_rtt", ParamUnit::kTime, 0.1, 1e-6, 10, "average round trip before any is known"},
    {"most_rtt", ParamUnit::kTime, 2, 1e-6, 60,
     "longest round trip of any flow, and the bound of a packet's flow time; the least rate is a "
     "packet of 1000 B in it"},
    {"floor", ParamUnit::kNumber, 0.05, 1e-6, 1, "least share of the capacity in eq 4's numerator"},
    {"newcomers", ParamUnit::kWord, 0, 0, 1, explicit_rate::kNewcomersDoc,
     explicit_rate::kNewcomerRules},
    {"count", ParamUnit::kWord, static_cast<double>(Count::kSharing), 0, 2,
     "number of flows: from the rates in packets' headers (eq 4), none of which is less than the "
     "link's unless it begins (eq 12), or from the bytes alone (eq 13)",
     kCounts},
    {"police", ParamUnit::kWord, 0, 0, 2,
     "packets of flows whose measured rate exceeds the link's, in proportion to the excess: drop "
     "them, or demote them to a queue of low priority; beside a queue for TCP they are dropped. A "
     "flow of weight above 1 exceeds it (section 10.4)",
     kPolices, true},
}};
inline constexpr auto kLinkParams = coexistence::with_tcp(kOwnLinkParams);
inline constexpr std::span<const ParamSpec> kShortLinkParams =
    std::span(kLinkParams).first<kShortLinkParamCount>();

enum FlowParam : size_t {
  kWeight,
  kFirstWindow,
  kUsualRtt,
  kStart,
  kSyn,
  kConduct,
  kFlowParamCount
};

/// How a flow begins: at the rate in the handshake's answer, or with its first window at once,
/// whatever that answer is. With an unbounded first window: the paper's naive QCP.
enum class Start { kRate, kWindow };
inline constexpr std::array<std::string_view, 2> kStarts{"rate", "window"};

/// A SYN counts for its bytes at R_init, which is almost nothing, or a whole flow for a round
/// trip, so that the rate allows for it before the flow has one.
enum class Syn { kBytes, kFlow };
inline constexpr std::array<std::string_view, 2> kSyns{"bytes", "flow"};

/// For experiments on policing: kGreedy sends twice as fast as its rate, and its headers say so;
/// kLying likewise, and its headers have its rate.
enum class Misbehaviour { kHonest, kGreedy, kLying };
inline constexpr std::array<std::string_view, 3> kMisbehaviours{"honest", "greedy", "lying"};

inline constexpr std::array<ParamSpec, kFlowParamCount> kFlowParams{{
    {"weight", ParamUnit::kNumber, 1, 1e-6, 1e6,
     "rates at a bottleneck are proportional to their weights"},
    {"first_window", ParamUnit::kNumber, 2, 1, 1e9, "packets of the first window"},
    {"usual_rtt", ParamUnit::kTime, 0.1, 1e-6, 10,
     "round trip that a SYN's rate is reckoned with: R_init is the first window in it"},
    {"start", ParamUnit::kWord, 0, 0, 1,
     "at the rate that the handshake brings, or with the first window at once", kStarts},
    {"syn", ParamUnit::kWord, 0, 0, 1,
     "load of a SYN: its bytes at R_init, or a whole flow for usual_rtt", kSyns},
    {"conduct", ParamUnit::kWord, 0, 0, 2,
     "for experiments; greedy: sends at twice its rate; lying: and its headers do not say so",
     kMisbehaviours},
}};

inline constexpr Preset::Value kExactCount{true, "count", static_cast<double>(Count::kExact)};
inline constexpr Preset::Value kUnlimitedNewcomers{
    true, "newcomers", static_cast<double>(explicit_rate::NewcomerRule::kUnlimited)};
inline constexpr std::array<Preset::Value, 2> kPublished{{kExactCount, kUnlimitedNewcomers}};
inline constexpr std::array<Preset::Value, 4> kCountedValues{{
    kExactCount,
    kUnlimitedNewcomers,
    {false, "start", static_cast<double>(Start::kWindow)},
    {false, "syn", static_cast<double>(Syn::kFlow)},
}};
inline constexpr std::array<Preset, 3> kPresets{{
    {"paper", "QCP as its paper simulates it: equation 4, gains 1 and 1, no limit for newcomers",
     kPublished},
    {"counted",
     "as paper, but flows count from their SYN on, and send two packets before they get a rate: "
     "fewer losses when many begin together, and a flow takes a round trip more",
     kCountedValues},
    {"friendly", "TCP has a queue of its own, over RED, and a fair share of the link (section 11)",
     coexistence::kFriendly},
}};

}  // namespace turnpike::qcp
