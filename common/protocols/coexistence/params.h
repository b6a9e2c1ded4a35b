// SPDX-License-Identifier: BSD-3-Clause
// Parameters of every scheme that can share its link with TCP, the last ones of the scheme's link
// parameters.
#pragma once

#include <array>

#include "common/protocols/param.h"

namespace turnpike::coexistence {

/// Index within these parameters.
enum Param : size_t { kTcpQueue, kKappa, kLossMemory, kParamCount };

/// kShared: no queue of its own. The others are those of aqm::Discipline, plus one.
inline constexpr std::array<std::string_view, 6> kTcpQueues{"shared", "droptail", "red",
                                                            "rem",    "avq",      "rio"};
inline constexpr double kShared = 0, kRed = 2;

inline constexpr std::array<ParamSpec, kParamCount> kParams{{
    {"tcp_queue", ParamUnit::kWord, kShared, 0, kTcpQueues.size() - 1,
     "discipline of a separate queue for other traffic; the link's shares make windows equal",
     kTcpQueues, true},
    {"kappa", ParamUnit::kNumber, 0.02, 1e-4, 1,
     "gain of that share, per round trip; at 0.1 it swings with every loss, between a tenth and "
     "three times what it should be"},
    {"loss_memory", ParamUnit::kNumber, 50, 1, 1e6,
     "round trips over which TCP's loss is averaged"},
}};

/// For a scheme's preset.
inline constexpr std::array<Preset::Value, 1> kFriendly{{{true, "tcp_queue", kRed}}};

/// A scheme's own parameters, followed by these.
template <size_t N>
constexpr std::array<ParamSpec, N + kParamCount> with_tcp(const std::array<ParamSpec, N>& own) {
  std::array<ParamSpec, N + kParamCount> all{};
  for (size_t i = 0; i < N; ++i) all[i] = own[i];
  for (size_t i = 0; i < kParamCount; ++i) all[N + i] = kParams[i];
  return all;
}

}  // namespace turnpike::coexistence
