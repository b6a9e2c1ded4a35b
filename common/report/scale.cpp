// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/scale.h"

#include <algorithm>
#include <cmath>

#include "common/report/markup.h"
#include "common/report/number.h"

namespace turnpike::report {
namespace {

constexpr double kLargest = 1e300;  // differences of such values are finite
constexpr double kSlack = 1e-9;     // of a step: rounding must not lose the tick at either end

/// 1, 2, 2.5 or 5 times a power of ten, not below `raw`.
double nice_step(double raw) {
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double step : {1., 2., 2.5, 5.})
    if (step * power >= raw * (1 - kSlack)) return step * power;
  return 10 * power;
}

std::string with_minus(int v) { return (v < 0 ? "−" : "") + std::to_string(std::abs(v)); }

std::string power_of_ten(int exponent) {
  return "10<tspan dy=\"-0.4em\" font-size=\"75%\">" + with_minus(exponent) + "</tspan>";
}

std::string linear_label(double value, double step, double largest) {
  int power = static_cast<int>(std::floor(std::log10(step) + kSlack));
  const double leading = step / std::pow(10, power);
  if (leading - std::floor(leading + kSlack) > kSlack) --power;  // 2.5 needs one digit more
  if (largest >= 1e6 || largest < 1e-3) {
    if (std::fabs(value) < step / 2) return "0";
    const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value)) + kSlack));
    return fixed(value / std::pow(10, exponent), std::max(0, exponent - power)) + "·" +
           power_of_ten(exponent);
  }
  std::string text = fixed(value, std::max(0, -power));
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

}  // namespace

Scale::Scale(double low, double high, bool log, bool widen, int wanted)
    : min_(low), max_(high), log_(log) {
  if (!std::isfinite(min_) || !std::isfinite(max_)) min_ = log ? 0.1 : 0, max_ = 1;
  min_ = std::clamp(min_, -kLargest, kLargest);
  max_ = std::clamp(max_, -kLargest, kLargest);
  if (max_ < min_) std::swap(min_, max_);
  if (log_) {
    if (max_ <= 0) max_ = 1;
    if (min_ <= 0) min_ = max_ / 10;
    if (max_ / min_ < 1 + kSlack) min_ /= 2, max_ *= 2;
    log_ticks(widen);
  } else {
    // A range below double's resolution becomes a small one around its value.
    const double least = std::max(std::fabs(min_), std::fabs(max_)) * 1e-6;
    if (max_ - min_ <= least) {
      const double half = max_ == 0 && min_ == 0 ? 0.5 : std::max(std::fabs(max_) / 10, least);
      if (min_ != 0) min_ -= half;
      max_ += half;
    }
    linear_ticks(widen, wanted);
  }
}

Scale::Scale(const std::vector<std::string>& categories)
    : min_(-0.5), max_(static_cast<double>(categories.size()) - 0.5), log_(false) {
  for (size_t i = 0; i < categories.size(); ++i)
    ticks_.push_back({static_cast<double>(i), escape(categories[i])});
}

void Scale::linear_ticks(bool widen, int wanted) {
  const double step = nice_step((max_ - min_) / std::max(1, wanted));
  if (widen) {
    min_ = std::floor(min_ / step + kSlack) * step;
    max_ = std::ceil(max_ / step - kSlack) * step;
  }
  const double largest = std::max(std::fabs(min_), std::fabs(max_));
  const auto first = static_cast<long>(std::ceil(min_ / step - kSlack));
  const auto last = static_cast<long>(std::floor(max_ / step + kSlack));
  for (long i = first; i <= last; ++i) {
    const double value = static_cast<double>(i) * step;
    ticks_.push_back({value, linear_label(value, step, largest)});
  }
}

void Scale::log_ticks(bool widen) {
  if (widen) {
    min_ = std::pow(10, std::floor(std::log10(min_) + kSlack));
    max_ = std::pow(10, std::ceil(std::log10(max_) - kSlack));
  }
  const int first = static_cast<int>(std::floor(std::log10(min_) + kSlack));
  const int last = static_cast<int>(std::ceil(std::log10(max_) - kSlack));
  const int every = std::max(1, (last - first + 5) / 6);  // at most seven labels
  for (int e = first; e <= last; ++e) {
    const double decade = std::pow(10, e);
    for (int m = 1; m < 10; ++m) {
      const double value = m * decade;
      if (value < min_ * (1 - kSlack) || value > max_ * (1 + kSlack)) continue;
      const bool labelled = m == 1 && (e - first) % every == 0;
      if (!labelled && every > 1 && m > 1) continue;
      const bool plain = e >= -3 && e <= 4;
      ticks_.push_back({value, !labelled ? ""
                               : plain   ? fixed(value, std::max(0, -e))
                                         : power_of_ten(e)});
    }
  }
}

double Scale::pixel(double value) const {
  const double part = log_ ? (std::log(value) - std::log(min_)) / (std::log(max_) - std::log(min_))
                           : (value - min_) / (max_ - min_);
  return begin_ + part * (end_ - begin_);
}

bool Scale::shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }

}  // namespace turnpike::report
