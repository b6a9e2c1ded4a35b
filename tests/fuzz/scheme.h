// SPDX-License-Identifier: BSD-3-Clause
// The scheme that a target plays.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/protocols/registry.h"

namespace turnpike::fuzz {

/// A protocol and one of its presets, by an input's byte.
struct Scheme {
  const Protocol* protocol;
  std::string_view preset;
  explicit Scheme(size_t byte) {
    const auto all = protocols();
    protocol = &all[byte % all.size()];
    const auto presets = preset_names();
    preset = presets[byte / all.size() % presets.size()];
  }
  [[nodiscard]] ParamValues link() const { return preset_values(*protocol, true, preset); }
  [[nodiscard]] ParamValues flow() const { return preset_values(*protocol, false, preset); }
};

}  // namespace turnpike::fuzz
