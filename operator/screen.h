// SPDX-License-Identifier: BSD-3-Clause
// A full-screen terminal: its size, its keys, and lines drawn on it.
#pragma once

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <termios.h>
#include <tl/expected.hpp>

#include "common/units/units.h"
#include "operator/top_text.h"

namespace turnpike::ops {

enum class Key : uint8_t {
  kNone,
  kUp,
  kDown,
  kEnter,
  kBack,
  kSort,
  kReverse,
  kPause,
  kCustomers,
  kQuit
};

/// Reads the first key from what a terminal sent and removes it; unknown keys are removed and
/// kNone. An escape sequence that is not complete yet is kept, unless `last`: then it is Escape.
Key take_key(std::string& input, bool last);

/// Takes over the terminal of the standard input and output: alternate screen, no echo, no cursor.
/// Plain ANSI sequences (ECMA-48) rather than a terminfo library: a dozen of them suffice, every
/// terminal emulator has them, and a container without terminfo's database still works.
class Screen {
 public:
  /// An event that the program waits for.
  struct Event {
    enum class Kind : uint8_t { kTick, kKey, kResize, kEnd };
    Kind kind = Kind::kEnd;
    Key key = Key::kNone;
  };

  /// Ticks every `interval`. The error says why the standard input or output is no such terminal.
  static tl::expected<std::unique_ptr<Screen>, std::string> open(Nanos interval);
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  /// Restores the terminal.
  ~Screen();

  [[nodiscard]] static ScreenSize size();
  void draw(const std::vector<ScreenLine>& lines);
  /// Waits. kEnd: a signal asked the program to end, or the terminal is gone.
  Event wait();

 private:
  Screen() = default;
  void write(const std::string& text);

  termios before_{};
  sigset_t mask_before_{};
  int timer_ = -1, signals_ = -1;
  std::string input_;
  bool gone_ = false;
};

}  // namespace turnpike::ops
