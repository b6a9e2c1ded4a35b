// SPDX-License-Identifier: BSD-3-Clause
// Accumulation-based control's parameters with the paper's values. The enums index ParamValues.
#pragma once

#include <array>

#include "common/protocols/param.h"

namespace turnpike::acc {

enum LinkParam : size_t { kQueue, kDamping, kUtilisation, kInterval, kLinkParamCount };

enum Queue : size_t { kAvd, kDropTail };
inline constexpr std::array<std::string_view, 2> kQueues{"avd", "droptail"};

inline constexpr std::array<ParamSpec, kLinkParamCount> kLinkParams{{
    {"queue", ParamUnit::kWord, kAvd, 0, kQueues.size() - 1,
     "where flows' accumulations are: in a virtual queue (avd) or in the link's own (droptail)",
     kQueues},
    {"damping", ParamUnit::kNumber, 0.1, 0, 100, "gain of the virtual capacity, per s (avd)"},
    {"utilisation", ParamUnit::kNumber, 0.98, 0.1, 1, "target, of the capacity (avd)"},
    {"interval", ParamUnit::kTime, 1e-3, 1e-6, 1, "between updates of the virtual queue (avd)"},
}};

/// The window from which an estimate's excess is subtracted: the one at the time of the
/// measurement, a round trip ago, or the present one as in Algorithm 1.
enum class Base { kMeasured, kPresent };
inline constexpr std::array<std::string_view, 2> kBases{"measured", "present"};

enum FlowParam : size_t {
  kKappa,
  kTarget,
  kWeight,
  kMinimumRate,
  kLimit,
  kFirstWindow,
  kBase,
  kFlowParamCount
};

inline constexpr std::array<ParamSpec, kFlowParamCount> kFlowParams{{
    {"kappa", ParamUnit::kNumber, 0.5, 0, 1, "gain on the accumulation's error, eq 3"},
    {"target", ParamUnit::kBytes, 3000, 1, 1e12, "accumulation of a flow of weight 1"},
    {"weight", ParamUnit::kNumber, 1, 1e-3, 1e6, "target accumulation, times that of weight 1"},
    {"minimum_rate", ParamUnit::kRate, 0, 0, 1e12, "expected minimum rate"},
    {"limit", ParamUnit::kBytes, 1e12, 1, 1e12, "most accumulation that the flow may have"},
    {"first_window", ParamUnit::kNumber, 1, 1, 1000, "packets"},
    {"base", ParamUnit::kWord, 0, 0, 1,
     "window that an estimate reduces: the one that it measures, a round trip old, or the present "
     "one (Algorithm 1), from which a large excess is subtracted twice",
     kBases},
}};

inline constexpr std::array<Preset::Value, 1> kPublished{{
    {false, "base", static_cast<double>(Base::kPresent)},
}};
inline constexpr std::array<Preset, 1> kPresets{{
    {"paper", "Monaco with EMR and WRS as published", kPublished},
}};

}  // namespace turnpike::acc
