// SPDX-License-Identifier: BSD-3-Clause
// FCP's parameters with the paper's values. The enums index ParamValues.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/protocols/fcp/cheating_params.h"
#include "common/protocols/param.h"
#include "common/units/units.h"

namespace turnpike::fcp {

enum LinkParam : size_t {
  kAlpha,
  kWindow,
  kFloor,
  kFirstRtt,
  kMinWindow,
  kMaxWindow,
  kMaxCommitment,
  kCredit,
  kPastPrice,
  kNoise,
  kNoiseEvery,
  kNoiseFor,
  kNoiseDraw,
  kPricing,
  kPromiseLife,
  kStartShare,
  kGrowth,
  kFirstBytes,
  kQueueTarget,
  kWithout,
  kAudit,
  kGroups,
  kLinkParamCount
};

/// A link's price: incoming budget by capacity (the paper's equation 2), or the price at which
/// announced demand equals the capacity.
enum class Pricing { kIncoming, kClearing };
inline constexpr std::array<std::string_view, 2> kPricings{"incoming", "clearing"};

/// How long a preload counts: for the window d like its packet, or in full for its flow's round
/// trip and then fading linearly over d.
enum class Credit { kWindow, kFading };
inline constexpr std::array<std::string_view, 2> kCredits{"window", "fading"};

/// The price at which a packet's bytes count: the lesser of the price one round trip ago and its
/// balance (section 5), or one of these alone.
enum class PastPrice { kLesser, kHistory, kBalance };
inline constexpr std::array<std::string_view, 3> kPastPrices{"lesser", "history", "balance"};

/// The prices that share one error of `noise`: none, or those of a disturbance.
enum class NoiseDraw { kPrice, kWindow };
inline constexpr std::array<std::string_view, 2> kNoiseDraws{"price", "window"};

/// Parts of the clearing law that an experiment may leave out (docs/control.md): turns of flows
/// that end with their first round, a book that drains slower than the link, credit of
/// announcements, the ceiling on SYNs' knees, promises beyond the capacity while some are not kept,
/// the discount on a burst's own promises, and the free capacity.
enum class Part { kNone, kTurns, kEase, kCredit, kUsualPrice, kOverbooking, kDiscount, kMargin };
inline constexpr std::array<std::string_view, 8> kParts{
    "none", "turns", "ease", "credit", "usual_price", "overbooking", "discount", "margin"};

/// Currencies at a link: the senders' own; one for each group of customers, whose budgets together
/// are worth the group's weight at this link; or likewise, and also at all links beyond this one,
/// which is a border of their domain.
enum class Groups { kOff, kLink, kDomain };
inline constexpr std::array<std::string_view, 3> kGroupScopes{"off", "link", "domain"};

/// Whether packets are charged, and how exactly the time is known that they pay for: see
/// PastCharge.
enum class Audit { kOff, kOn, kExact };
inline constexpr std::array<std::string_view, 3> kAudits{"off", "on", "exact"};

inline constexpr std::array<ParamSpec, kLinkParamCount> kLinkParams{{
    {"alpha", ParamUnit::kNumber, 2, 0, 100, "queue gain in the price's denominator, eq 2"},
    {"window", ParamUnit::kNumber, 2, 0.1, 100, "averaging window d, in average round trips"},
    {"floor", ParamUnit::kNumber, 0.5, 0.01, 1,
     "least share of the capacity in eq 2's denominator"},
    {"first_rtt", ParamUnit::kTime, 0.1, 1e-6, 10, "average round trip before any is known"},
    {"min_window", ParamUnit::kTime, 2e-3, 1e-6, 10, "least d"},
    {"max_window", ParamUnit::kTime, 4, 1e-6, 60, "largest d"},
    {"max_commitment", ParamUnit::kNumber, 1e6, 1e-12, 1e18,
     "$/s that one packet may promise; more is clipped and counted"},
    {"credit", ParamUnit::kWord, 0, 0, 1,
     "how long a preload counts: as long as its packet (eq 4), or fully for its round trip and "
     "then fading over d",
     kCredits},
    {"past_price", ParamUnit::kWord, 0, 0, 2,
     "price at which a packet's bytes count: the lesser of the price a round trip ago and its "
     "balance, or one of them",
     kPastPrices},
    {"noise", ParamUnit::kNumber, 0, 0, 0.9,
     "for experiments on stability: prices are off by up to this share at random ..."},
    {"noise_every", ParamUnit::kTime, 1, 1e-3, 3600, "... once in so long ..."},
    {"noise_for", ParamUnit::kTime, 0.1, 1e-3, 3600, "... for so long at its beginning"},
    {"noise_draw", ParamUnit::kWord, 0, 0, 1,
     "each price has an error of its own, or all prices of one such time have the same",
     kNoiseDraws},
    {"pricing", ParamUnit::kWord, 0, 0, 1,
     "price: incoming budget by capacity (eq 2), or the price at which announced demand equals the "
     "capacity; the parameters below apply only to the latter",
     kPricings, true},
    {"promise_life", ParamUnit::kNumber, 0.3, 0.05, 1,
     "round trips that a promise lives for, at least its packet's slot; flows need the same"},
    {"start_share", ParamUnit::kNumber, 0.1, 0.01, 1,
     "bound of a first round's rate, as a share of the capacity"},
    {"growth", ParamUnit::kNumber, 8, 1, 64,
     "bound of the rate that a packet may ask for, as a multiple of its own rate"},
    {"first_bytes", ParamUnit::kBytes, 45000, 1500, 1e6, "that a SYN may ask for, at most"},
    {"queue_target", ParamUnit::kTime, 150e-6, 1e-6, 1,
     "mean queueing delay that first rounds of flows may cause; above it the price leaves up to "
     "3.5 % of the capacity free"},
    {"without", ParamUnit::kWord, 0, 0, kParts.size() - 1,
     "for experiments: part of the law to leave out", kParts},
    {"audit", ParamUnit::kWord, 0, 0, kAudits.size() - 1,
     "adds the link's price at the time of payment to `charged` in the header, so that the last "
     "router can check what senders pay: the lowest price of 2 to 4 ms around that time; exact: of "
     "4 us and more, where delays before the link do not vary",
     kAudits},
    {"groups", ParamUnit::kWord, 0, 0, 2,
     "exchange rates between the currencies of groups and the link's: groups share this link by "
     "weight; or this link is the border of a domain, whose links all do",
     kGroupScopes},
}};

enum FlowParam : size_t {
  kSynPackets,
  kDeadBand,
  kFirstRound,
  kCancellation,
  kCancelShare,
  kConduct,
  kPromising,
  kFlowPromiseLife,
  kFlowGrowth,
  kPreloadLimit,
  kDeadlineRate,
  kFixedPrice,
  kFlowParamCount
};

/// The announcement in a packet: the change of the flow's budget (the paper's preload), or the
/// flow's rate one round trip later and the reserve price up to which it wants that rate.
enum class Promising { kPreload, kReserve };
inline constexpr std::array<std::string_view, 2> kPromisings{"preload", "reserve"};

/// How an ending flow returns its budget: -1 on each packet of its last round trip, or the rest of
/// the budget on the first of these packets.
enum class Cancellation : uint8_t { kEach, kWhole };
inline constexpr std::array<std::string_view, 2> kCancellations{"each", "whole"};

/// For experiments. kBoast promises the whole target with the first packet, even without data to
/// send. kTake sends -1 with every packet once it has the rate that it wants, and keeps sending at
/// that rate.
enum class Misbehaviour : uint8_t { kHonest, kBoast, kTake };
inline constexpr std::array<std::string_view, 3> kMisbehaviours{"honest", "boast", "take"};

inline constexpr std::array<ParamSpec, kFlowParamCount> kLawFlowParams{{
    {"syn_packets", ParamUnit::kNumber, 10, 1, 1000,
     "full packets that the SYN's preload pays for in the first round trip"},
    {"dead_band", ParamUnit::kNumber, 1e-3, 0, 0.5,
     "relative deviation from the target budget that is ignored"},
    {"first_round", ParamUnit::kNumber, 1, 1, 64,
     "bound of the first round, as a multiple of the SYN's payment, within the target"},
    {"cancellation", ParamUnit::kWord, 0, 0, 1,
     "how an ending flow gives its budget back: -1 on each packet of its last round trip, or all "
     "on the first",
     kCancellations},
    {"cancel_share", ParamUnit::kNumber, 1, 0, 1, "of the budget, given back at the end"},
    {"conduct", ParamUnit::kWord, 0, 0, 2,
     "for experiments; boast: promises its whole target with its first packet; take: returns "
     "budget that it keeps spending",
     kMisbehaviours},
    {"promise", ParamUnit::kWord, 0, 0, 1,
     "announcement: change of the budget, or future rate and reserve price; the parameters below "
     "apply only to the latter",
     kPromisings},
    {"promise_life", ParamUnit::kNumber, 0.3, 0.05, 1,
     "round trips over which promises are averaged into a rate; links need the same"},
    {"growth", ParamUnit::kNumber, 8, 1, 64,
     "bound of the requested rate, as a multiple of the present one"},
    {"preload_limit", ParamUnit::kNumber, 1e20, 1e-3, 1e20,
     "bound of a packet's preload: with 1, as in a stability class, a budget at most doubles in a "
     "round trip; reserve prices have `growth` instead"},
    {"deadline_rate", ParamUnit::kRate, 0, 0, 1e13,
     "rate to ask for at once at the fixed price of a deadline class; 0: none"},
    {"fixed_price", ParamUnit::kPrice, kMinPrice.count(), kMinPrice.count(), 1,
     "that price; a flow that sees another one falls back to best effort"},
}};

/// Parameters of a flow: those of its law (FlowParam), then those of CheatingFlow, whose indices
/// are kFirstLie + CheatingParam.
inline constexpr size_t kFirstLie = kFlowParamCount;
inline constexpr auto kFlowParams = [] {
  std::array<ParamSpec, kFirstLie + kCheatingParamCount> all{};
  std::ranges::copy(kLawFlowParams, all.begin());
  std::ranges::copy(kCheatingParams, all.begin() + kFirstLie);
  return all;
}();

// --- presets ------------------------------------------------------------------------------------

inline constexpr std::array<Preset::Value, 5> kTurnpikeValues{{
    {true, "pricing", static_cast<double>(Pricing::kClearing)},
    {true, "min_window", 100e-6},
    {false, "promise", static_cast<double>(Promising::kReserve)},
    {false, "syn_packets", 30},
    {false, "first_round", 10},
}};
inline constexpr std::array<Preset::Value, 2> kSwiftValues{{
    {true, "credit", static_cast<double>(Credit::kFading)},
    {false, "first_round", 3},
}};
inline constexpr std::array<Preset, 3> kPresets{{
    {"turnpike", "reserve prices: packets announce demand, links clear it", kTurnpikeValues},
    {"paper",
     "FCP as published (CMU-CS-12-125); gaps filled by its most literal interpretation",
     {}},
    {"swift", "fading credit and a first round thrice as fast", kSwiftValues},
}};

}  // namespace turnpike::fcp
