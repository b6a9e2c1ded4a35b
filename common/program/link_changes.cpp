// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/link_changes.h"

#include <array>
#include <cstdio>
#include <utility>

namespace turnpike {
namespace {

std::string after(Nanos time) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.2f s", to_seconds(time));
  return text.data();
}

}  // namespace

std::optional<std::string> LinkChanges::line(bool up, const std::string& reason, Nanos now) {
  if (up != up_) {
    ++changes_;
    if (!up) since_ = now;
    if (up && since_ > Nanos(0)) away_ = now - since_;
  }
  up_ = up;
  if (changes_ == 0 || now < quiet_) return {};
  std::string text = "link " + name_;
  if (!up) {
    text += " is down: " + reason;
  } else {
    text += " is up";
    if (away_ > Nanos(0)) text += " again after " + after(away_);
  }
  if (changes_ > 1) text += ", after " + std::to_string(changes_) + " changes";
  quiet_ = now + kQuiet;
  changes_ = 0;
  return text;
}

}  // namespace turnpike
