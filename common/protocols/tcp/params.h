// SPDX-License-Identifier: BSD-3-Clause
// Parameters of a TCP flow, and TCP's presets. Those of its links are aqm/params.h.
#pragma once

#include <array>

#include "common/protocols/param.h"

namespace turnpike::tcp {

enum FlowParam : size_t {
  kEcn,
  kFirstWindow,
  kFirstThreshold,
  kMinTimeout,
  kSack,
  kAllocation,
  kMeterWindow,
  kMeterExcess,
  kFlowParamCount
};

inline constexpr std::array<ParamSpec, kFlowParamCount> kFlowParams{{
    {"ecn", ParamUnit::kWord, 1, 0, 1, "whether links may mark packets", kOffOn},
    {"first_window", ParamUnit::kNumber, 2, 1, 1000, "packets"},
    {"first_threshold", ParamUnit::kNumber, 1e9, 2, 1e9,
     "where slow start ends at first, packets: as good as never"},
    {"min_timeout", ParamUnit::kTime, 1, 1e-3, 60,
     "least retransmission time-out (RFC 6298 2.4; Linux has 200 ms)"},
    {"sack", ParamUnit::kWord, 1, 0, 1, "whether ACKs tell which packets are lost (RFC 6675)",
     kOffOn},
    {"allocation", ParamUnit::kRate, 0, 0, 1e13,
     "rate that the flow was promised: packets within it are tagged in-profile for RIO"},
    {"meter_window", ParamUnit::kTime, 1, 1e-6, 60, "memory of the meter's time sliding window"},
    {"meter_excess", ParamUnit::kNumber, 4.0 / 3, 1, 10,
     "times the allocation that count as within it: TCP saws between 2/3 and 4/3"},
}};

inline constexpr std::array<Preset::Value, 1> kReno{{{false, "sack", 0}}};
inline constexpr std::array<Preset::Value, 1> kRed{{{true, "discipline", 1}}};
inline constexpr std::array<Preset::Value, 1> kRem{{{true, "discipline", 2}}};
inline constexpr std::array<Preset::Value, 1> kAvq{{{true, "discipline", 3}}};
inline constexpr std::array<Preset::Value, 1> kRio{{{true, "discipline", 4}}};
inline constexpr std::array<Preset::Value, 2> kRenoRed{{kReno[0], kRed[0]}};
inline constexpr std::array<Preset::Value, 2> kRenoRem{{kReno[0], kRem[0]}};
inline constexpr std::array<Preset::Value, 2> kRenoAvq{{kReno[0], kAvq[0]}};
inline constexpr std::array<Preset::Value, 2> kRenoRio{{kReno[0], kRio[0]}};

inline constexpr std::array<Preset, 10> kPresets{{
    {"paper", "NewReno with SACK over drop-tail, as the papers compare with", {}},
    {"reno", "NewReno without SACK over drop-tail, as ns-2's Newreno", kReno},
    {"red", "over RED (gentle), with ECN", kRed},
    {"rem", "over REM, with ECN", kRem},
    {"avq", "over AVQ, with ECN", kAvq},
    {"rio", "over RIO, with ECN; allocations are the flows'", kRio},
    {"reno_red", "without SACK over RED (gentle), with ECN", kRenoRed},
    {"reno_rem", "without SACK over REM, with ECN", kRenoRem},
    {"reno_avq", "without SACK over AVQ, with ECN", kRenoAvq},
    {"reno_rio", "without SACK over RIO, with ECN; allocations are the flows'", kRenoRio},
}};

}  // namespace turnpike::tcp
