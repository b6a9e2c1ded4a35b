// SPDX-License-Identifier: BSD-3-Clause
// A protocol's parameters as data, for files, sweeps and the editor schema, which need no code for
// any single protocol.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace turnpike {

/// A parameter's quantity, which sets the unit that a topology file must write.
enum class ParamUnit { kNumber, kTime, kRate, kBytes, kPrice, kWord };

/// One parameter. Values are doubles in base units: 1, s, bit/s, B, $/B; a word's is its index.
struct ParamSpec {
  std::string_view name;
  ParamUnit unit;
  double fallback;  // the default: the paper's
  double min, max;  // inclusive
  std::string_view doc;
  std::span<const std::string_view> words = {};  // of a kWord: min is 0, max the last one's index
  /// Of a link: the law begins anew when a running router changes it, see
  /// LinkLaw::take_settings().
  bool restarts = false;
};

/// Words of a parameter that is a switch; its value is 0 or 1.
inline constexpr std::array<std::string_view, 2> kOffOn{"off", "on"};

/// A named set of parameter overrides.
struct Preset {
  struct Value {
    bool link;  // a parameter of the link's law; otherwise of the flow's
    std::string_view name;
    double value;
  };
  std::string_view name, doc;
  std::span<const Value> values;
};

/// Values of a protocol's parameters, in the order of its specs.
class ParamValues {
 public:
  ParamValues() = default;
  /// All values are the fallbacks.
  explicit ParamValues(std::span<const ParamSpec> specs) {
    for (const ParamSpec& s : specs) values_.push_back(s.fallback);
  }
  [[nodiscard]] double operator[](size_t i) const { return values_[i]; }
  [[nodiscard]] double& operator[](size_t i) { return values_[i]; }
  [[nodiscard]] size_t size() const { return values_.size(); }

 private:
  std::vector<double> values_;
};

}  // namespace turnpike
