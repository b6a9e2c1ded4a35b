// SPDX-License-Identifier: BSD-3-Clause
#include "common/metrics/prometheus.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace turnpike::metrics {
namespace {

template <class T>
std::string number(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(v)) return "NaN";
    if (std::isinf(v)) return v > 0 ? "+Inf" : "-Inf";
  }
  std::array<char, 32> out;  // the shortest text that reads back as the same number
  return {out.data(), std::to_chars(out.data(), out.data() + out.size(), v).ptr};
}

// OpenMetrics asks for "1.0"; one text for both formats, so that the series are the same.
std::string bound_text(double bound) {
  std::string text = number(bound);
  if (text.find_first_not_of("-0123456789") == text.npos) text += ".0";
  return text;
}

// Only metric names may have colons; no name may begin with a digit.
std::string valid_name(std::string_view name, bool colons) {
  std::string out(name.empty() ? "_" : name);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (char& c : out) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !is_digit(c) && !(colons && c == ':')) c = '_';
  }
  if (is_digit(out.front())) out.insert(0, 1, '_');
  return out;
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (quotes && c == '"')) out += '\\';
    out += c;
  }
}

void append_label(std::string& out, std::string_view name, std::string_view value) {
  out += out.back() == '{' ? "" : ",";
  out += name;
  out += "=\"";
  append_escaped(out, value, true);
  out += '"';
}

}  // namespace

std::string Family::sample_name() const {
  std::string out = valid_name(name, true);
  if (type == MetricType::kCounter) out += "_total";
  if (type == MetricType::kInfo) out += "_info";
  return out;
}

std::string_view name_of(MetricType type) {
  constexpr std::array<std::string_view, 4> kNames{"counter", "gauge", "histogram", "info"};
  return kNames[static_cast<size_t>(type)];
}

void PrometheusText::family(const Family& family) {
  const bool open = format_ == TextFormat::kOpenMetrics;
  name_ = family.sample_name();
  // OpenMetrics announces a family by its own name, Prometheus 0.0.4 by that of its samples; it has
  // no infos.
  const std::string announced = open ? valid_name(family.name, true) : name_;
  const bool gauge = !open && family.type == MetricType::kInfo;
  text_ += "# HELP " + announced + " ";
  append_escaped(text_, family.help, /*quotes=*/open);
  text_ += "\n# TYPE " + announced + " ";
  text_ += gauge ? "gauge" : name_of(family.type);
  text_ += '\n';
  if (!open || family.unit.empty()) return;
  text_ += "# UNIT " + announced + " ";
  text_ += family.unit;
  text_ += '\n';
}

std::string PrometheusText::finish() {
  if (format_ == TextFormat::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

void PrometheusText::sample(Labels labels, uint64_t value) { line("", labels, "", number(value)); }
void PrometheusText::sample(Labels labels, double value) { line("", labels, "", number(value)); }

void PrometheusText::observations(Labels labels, const Histogram& h, std::span<const double> bounds,
                                  double unit) {
  for (const double bound : bounds) {
    const double raw = std::round(bound / unit);
    const uint64_t count = raw < 0         ? 0
                           : raw >= 0x1p64 ? h.count()
                                           : h.count_up_to(static_cast<uint64_t>(raw));
    line("_bucket", labels, bound_text(bound), number(count));
  }
  line("_bucket", labels, "+Inf", number(h.count()));
  line("_sum", labels, "", number(h.sum() * unit));
  line("_count", labels, "", number(h.count()));
}

void PrometheusText::octaves(Labels labels, const LogHistogram::Values& h, unsigned first,
                             double per) {
  for (unsigned octave = first; octave <= LogHistogram::kOctaves; ++octave)
    line("_bucket", labels, bound_text(std::ldexp(h.least, static_cast<int>(octave)) / per),
         number(h.below(octave)));
  line("_bucket", labels, "+Inf", number(h.total()));
  line("_sum", labels, "", number(h.sum / per));
  line("_count", labels, "", number(h.total()));
}

void PrometheusText::line(std::string_view suffix, Labels labels, std::string_view bound,
                          std::string_view value) {
  text_ += name_;
  text_ += suffix;
  if (labels.size() != 0 || !bound.empty()) {
    text_ += '{';
    for (const Label& l : labels) append_label(text_, valid_name(l.name, false), l.value);
    if (!bound.empty()) append_label(text_, "le", bound);
    text_ += '}';
  }
  text_ += ' ';
  text_ += value;
  text_ += '\n';
}

}  // namespace turnpike::metrics
