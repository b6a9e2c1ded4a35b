// SPDX-License-Identifier: BSD-3-Clause
// The picture of `turnpike top`, as lines of text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/top_view.h"

namespace turnpike::ops {

enum class LineStyle : uint8_t { kPlain, kBar, kTitle, kSelected, kAlarm };

struct ScreenLine {
  std::string text;  // ASCII, at most as wide as the screen
  LineStyle style = LineStyle::kPlain;
};

/// The user's choices.
struct TopState {
  TopOrder order = TopOrder::kName;
  bool reverse = false, paused = false;
  std::string selected;  // link; empty: the first
  bool drilled = false;  // shows the selected link alone
  bool tunnels = false;  // shows a gateway's customers alone
  std::string message;   // instead of the keys; empty: none
};

struct ScreenSize {
  size_t width = 80, height = 24;
};
/// A screen below this shows only a message.
inline constexpr ScreenSize kMinScreen{40, 8};

/// Exactly `size.height` lines, none wider than `size.width`. Sections that do not fit are cut and
/// say how many rows they leave out; the selected link stays in sight.
std::vector<ScreenLine> top_screen(const TopView& view, const TopState& state, ScreenSize size);

/// Everything, without limits of height, for `turnpike top --once`.
std::string top_once(const TopView& view, size_t width);

}  // namespace turnpike::ops
