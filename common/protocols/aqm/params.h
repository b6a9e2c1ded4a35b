// SPDX-License-Identifier: BSD-3-Clause
// Parameters of queue management at a link, with the papers' values. The enum indexes ParamValues.
#pragma once

#include <array>
#include <string_view>

#include "common/protocols/param.h"

namespace turnpike::aqm {

enum LinkParam : size_t {
  kDiscipline,
  kSignal,
  kPacket,
  kRedWeight,
  kRedMinTh,
  kRedMaxTh,
  kRedMaxP,
  kRedGentle,
  kRemGamma,
  kRemPhi,
  kRemQueueGain,
  kRemTarget,
  kAvqDamping,
  kAvqUtilization,
  kRioInMinTh,
  kRioInMaxTh,
  kRioInMaxP,
  kRioOutMinTh,
  kRioOutMaxTh,
  kRioOutMaxP,
  kLinkParamCount
};

enum class Discipline { kDropTail, kRed, kRem, kAvq, kRio };
inline constexpr std::array<std::string_view, 5> kDisciplines{"droptail", "red", "rem", "avq",
                                                              "rio"};
enum class SignalBy { kMark, kDrop };
inline constexpr std::array<std::string_view, 2> kSignals{"mark", "drop"};

inline constexpr std::array<ParamSpec, kLinkParamCount> kLinkParams{{
    {"discipline", ParamUnit::kWord, 0, 0, 4, "how the queue is managed", kDisciplines, true},
    {"signal", ParamUnit::kWord, 0, 0, 1,
     "what becomes of a packet that is to tell its flow of congestion and may be marked", kSignals},
    {"packet", ParamUnit::kBytes, 1000, 1, 65535,
     "mean packet, where a discipline counts packets: RED's idle time, REM's queue, RIO's "
     "thresholds"},
    {"red_weight", ParamUnit::kNumber, 0.002, 1e-9, 1, "of an arrival in RED's and RIO's averages"},
    {"red_min_th", ParamUnit::kNumber, 1.0 / 3, 0, 1, "average from which RED marks, in buffers"},
    {"red_max_th", ParamUnit::kNumber, 2.0 / 3, 0, 1,
     "average at which RED marks with red_max_p, in buffers"},
    {"red_max_p", ParamUnit::kNumber, 0.1, 0, 1, "probability of a mark there"},
    {"red_gentle", ParamUnit::kWord, 1, 0, 1,
     "from there to twice red_max_th the probability rises to 1 instead of leaping", kOffOn},
    {"rem_gamma", ParamUnit::kNumber, 0.001, 0, 10, "gain of REM's price, per packet"},
    {"rem_phi", ParamUnit::kNumber, 1.001, 1.0000001, 10, "a mark's probability is 1 - phi^-price"},
    {"rem_queue_gain", ParamUnit::kNumber, 0.1, 0, 10, "weight of REM's queue beside its rate"},
    {"rem_target", ParamUnit::kNumber, 1.0 / 3, 0, 1, "REM's queue to be, in buffers"},
    {"avq_damping", ParamUnit::kNumber, 0.15, 0, 10, "alpha, gain of AVQ's virtual capacity"},
    {"avq_utilization", ParamUnit::kNumber, 0.98, 0.01, 1, "gamma, share of the link to be used"},
    {"rio_in_min_th", ParamUnit::kNumber, 40, 0, 1e6, "RIO's RED of in-packets: from, packets"},
    {"rio_in_max_th", ParamUnit::kNumber, 70, 0, 1e6, "to, packets"},
    {"rio_in_max_p", ParamUnit::kNumber, 0.02, 0, 1, "probability there"},
    {"rio_out_min_th", ParamUnit::kNumber, 10, 0, 1e6, "RIO's RED of out-packets: from, packets"},
    {"rio_out_max_th", ParamUnit::kNumber, 30, 0, 1e6, "to, packets"},
    {"rio_out_max_p", ParamUnit::kNumber, 0.5, 0, 1, "probability there"},
}};

}  // namespace turnpike::aqm
