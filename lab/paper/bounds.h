// SPDX-License-Identifier: BSD-3-Clause
// Bounds of checks: whether a value is within one, and whether one is as strict as the paper.
#pragma once

#include <string>

#include "lab/paper/index.h"

namespace turnpike::lab {

/// `value` in the unit of the metric; `other`: value of the metric that kAbove and kBelow name.
bool holds(const CheckSpec& check, double value, double other);

/// A text with the metric's unit.
std::string with_unit(const std::string& text, const MetricSpec& metric);
/// "≥ 98 %", "20 Mbps ± 3 %", "< completion time, XCP".
std::string bound_text(const CheckSpec& check, const MetricSpec& metric);

/// Whether the bound admits values that the paper's value does not. A number that a paper prints
/// stands for all that round to it: 99 for 98.5 to 99.5. Where `paper` is words, such as "equal", a
/// bound on both sides does, for the words name no tolerance, and a bound on one side does not.
bool wider_than_paper(const CheckSpec& check);

}  // namespace turnpike::lab
