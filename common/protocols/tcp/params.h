// SPDX-License-Identifier: BSD-3-Clause
// TCP's parameters and its links', with the values that papers compare with. The enums index
// ParamValues.
#pragma once

#include <array>

#include "common/protocols/param.h"

namespace turnpike::tcp {

enum LinkParam : size_t {
  kDiscipline,
  kSignal,
  kPacket,
  kRedWeight,
  kRedLeast,
  kRedMost,
  kRedMaxP,
  kRedGentle,
  kRemGamma,
  kRemPhi,
  kRemQueueGain,
  kRemTarget,
  kAvqDamping,
  kAvqUtilization,
  kRioInLeast,
  kRioInMost,
  kRioInMaxP,
  kRioOutLeast,
  kRioOutMost,
  kRioOutMaxP,
  kLinkParamCount
};

enum class Discipline { kDropTail, kRed, kRem, kAvq, kRio };
inline constexpr std::array<std::string_view, 5> kDisciplines{"droptail", "red", "rem", "avq",
                                                              "rio"};
enum class Telling { kMark, kDrop };
inline constexpr std::array<std::string_view, 2> kTellings{"mark", "drop"};
inline constexpr std::array<std::string_view, 2> kSwitch{"off", "on"};

inline constexpr std::array<ParamSpec, kLinkParamCount> kLinkParams{{
    {"discipline", ParamUnit::kWord, 0, 0, 4, "how the queue is managed", kDisciplines},
    {"signal", ParamUnit::kWord, 0, 0, 1,
     "what becomes of a packet that is to tell its flow of congestion and may be marked",
     kTellings},
    {"packet", ParamUnit::kBytes, 1000, 1, 65535,
     "mean packet, where a discipline counts packets: RED's idle time, REM's queue, RIO's "
     "thresholds"},
    {"red_weight", ParamUnit::kNumber, 0.002, 1e-9, 1, "of an arrival in RED's and RIO's averages"},
    {"red_least", ParamUnit::kNumber, 1.0 / 3, 0, 1, "average from which RED marks, in buffers"},
    {"red_most", ParamUnit::kNumber, 2.0 / 3, 0, 1,
     "average at which RED marks with red_max_p, in buffers"},
    {"red_max_p", ParamUnit::kNumber, 0.1, 0, 1, "probability of a mark there"},
    {"red_gentle", ParamUnit::kWord, 1, 0, 1,
     "from there to twice red_most the probability rises to 1 instead of leaping", kSwitch},
    {"rem_gamma", ParamUnit::kNumber, 0.001, 0, 10, "gain of REM's price, per packet"},
    {"rem_phi", ParamUnit::kNumber, 1.001, 1.0000001, 10, "a mark's probability is 1 - phi^-price"},
    {"rem_queue_gain", ParamUnit::kNumber, 0.1, 0, 10, "weight of REM's queue beside its rate"},
    {"rem_target", ParamUnit::kNumber, 1.0 / 3, 0, 1, "REM's queue to be, in buffers"},
    {"avq_damping", ParamUnit::kNumber, 0.15, 0, 10, "alpha, gain of AVQ's virtual capacity"},
    {"avq_utilization", ParamUnit::kNumber, 0.98, 0.01, 1, "gamma, share of the link to be used"},
    {"rio_in_least", ParamUnit::kNumber, 40, 0, 1e6, "RIO's RED of in-packets: from, packets"},
    {"rio_in_most", ParamUnit::kNumber, 70, 0, 1e6, "to, packets"},
    {"rio_in_max_p", ParamUnit::kNumber, 0.02, 0, 1, "probability there"},
    {"rio_out_least", ParamUnit::kNumber, 10, 0, 1e6, "RIO's RED of out-packets: from, packets"},
    {"rio_out_most", ParamUnit::kNumber, 30, 0, 1e6, "to, packets"},
    {"rio_out_max_p", ParamUnit::kNumber, 0.5, 0, 1, "probability there"},
}};

enum FlowParam : size_t {
  kEcn,
  kFirstWindow,
  kFirstThreshold,
  kMinTimeout,
  kAllocation,
  kMeterWindow,
  kMeterExcess,
  kFlowParamCount
};

inline constexpr std::array<ParamSpec, kFlowParamCount> kFlowParams{{
    {"ecn", ParamUnit::kWord, 1, 0, 1, "whether links may mark packets", kSwitch},
    {"first_window", ParamUnit::kNumber, 2, 1, 1000, "packets"},
    {"first_threshold", ParamUnit::kNumber, 1e9, 2, 1e9,
     "where slow start ends at first, packets: as good as never"},
    {"min_timeout", ParamUnit::kTime, 1, 1e-3, 60,
     "least retransmission time-out (RFC 6298 2.4; Linux has 200 ms)"},
    {"allocation", ParamUnit::kRate, 0, 0, 1e13,
     "rate that the flow was promised: packets within it are tagged in-profile for RIO"},
    {"meter_window", ParamUnit::kTime, 1, 1e-6, 60, "memory of the meter's time sliding window"},
    {"meter_excess", ParamUnit::kNumber, 4.0 / 3, 1, 10,
     "times the allocation that count as within it: TCP saws between 2/3 and 4/3"},
}};

inline constexpr std::array<Preset::Value, 1> kRed{{{true, "discipline", 1}}};
inline constexpr std::array<Preset::Value, 1> kRem{{{true, "discipline", 2}}};
inline constexpr std::array<Preset::Value, 1> kAvq{{{true, "discipline", 3}}};
inline constexpr std::array<Preset::Value, 1> kRio{{{true, "discipline", 4}}};

inline constexpr std::array<Preset, 5> kPresets{{
    {"paper", "NewReno with SACK over drop-tail, as the papers compare with", {}},
    {"red", "over RED (gentle), with ECN", kRed},
    {"rem", "over REM, with ECN", kRem},
    {"avq", "over AVQ, with ECN", kAvq},
    {"rio", "over RIO, with ECN; allocations are the flows'", kRio},
}};

}  // namespace turnpike::tcp
