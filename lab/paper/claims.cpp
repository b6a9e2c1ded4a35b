// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/claims.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

#include "common/report/number.h"
#include "common/report/run_data.h"

namespace turnpike::lab {
namespace {

using report::significant;
using Kind = ClaimSpec::Kind;

const MetricSpec& metric_of(const Experiment& e, const std::string& name) {
  return *std::ranges::find(e.metrics, name, &MetricSpec::name);
}

std::string with_unit(const std::string& text, const MetricSpec& m) {
  return text + (m.unit.empty() || text.empty() ? "" : " " + m.unit);
}

/// The paper's value may be a number, in the metric's unit, or any text.
std::string paper_text(const std::string& paper, const MetricSpec& m) {
  const bool plain = paper.find_first_not_of("0123456789.-") == std::string::npos;
  return plain ? with_unit(paper, m) : paper;
}

std::string bound_text(const ClaimSpec& c, const MetricSpec& m) {
  switch (c.kind) {
    case Kind::kAtLeast:
      return "≥ " + with_unit(significant(c.a), m);
    case Kind::kAtMost:
      return "≤ " + with_unit(significant(c.a), m);
    case Kind::kWithin:
      return significant(c.a) + " to " + with_unit(significant(c.b), m);
    case Kind::kNear:
      return with_unit(significant(c.a), m) + " ± " + significant(c.b * 100) + " %";
    case Kind::kAbove:
      return "> " + c.other;
    case Kind::kBelow:
      return "< " + c.other;
  }
  return "";
}

bool met(const ClaimSpec& c, double v, double other) {
  switch (c.kind) {
    case Kind::kAtLeast:
      return v >= c.a;
    case Kind::kAtMost:
      return v <= c.a;
    case Kind::kWithin:
      return v >= c.a && v <= c.b;
    case Kind::kNear:
      return std::fabs(v - c.a) <= c.b * std::fabs(c.a);
    case Kind::kAbove:
      return v > other;
    case Kind::kBelow:
      return v < other;
  }
  return false;
}

}  // namespace

double shown(const MetricSpec& m, const Metrics& metrics) {
  return metrics.at(m.name) * (m.unit == "%" ? 100 : 1);
}

std::string shown_text(double v, const MetricSpec& m) {
  if (std::isnan(v)) return report::kNoNumber;
  if (std::isinf(v)) return "never";
  return with_unit(significant(v), m);
}

std::vector<ClaimResult> evaluate(const Experiment& e, const Metrics& metrics) {
  std::vector<ClaimResult> all;
  for (const ClaimSpec& c : e.claims) {
    const MetricSpec& m = metric_of(e, c.metric);
    const double v = shown(m, metrics);
    const double other = c.other.empty() ? 0 : shown(metric_of(e, c.other), metrics);
    all.push_back({.experiment = e.id,
                   .figure = e.figure,
                   .metric = m.name,
                   .paper = paper_text(c.paper, m),
                   .here = shown_text(v, m),
                   .bound = bound_text(c, m),
                   .why = c.why,
                   .met = met(c, v, other)});
  }
  return all;
}

tl::expected<Baseline, std::string> Baseline::read(const std::string& path) {
  if (!std::filesystem::exists(path)) return Baseline();
  return report::read_text(path).and_then(&Baseline::parse).map_error([&](const std::string& e) {
    return path + ": " + e;
  });
}

tl::expected<Baseline, std::string> Baseline::parse(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) return tl::unexpected(std::string("not a JSON array"));
  Baseline b;
  for (const auto& entry : json) {
    const bool right = entry.is_object() && entry.contains("id") && entry["id"].is_string() &&
                       entry.contains("claim") && entry["claim"].is_string() &&
                       entry.contains("met") && entry["met"].is_boolean();
    if (!right) return tl::unexpected("not {id, claim, met}: " + entry.dump());
    b.met_[{entry["id"], entry["claim"]}] = entry["met"];
  }
  return b;
}

void Baseline::compare(std::vector<ClaimResult>& results) const {
  for (ClaimResult& v : results) {
    const auto known = met_.find({v.experiment, v.claim()});
    v.lost = !v.met && known != met_.end() && known->second;
  }
}

void Baseline::update(const std::vector<ClaimResult>& results) {
  std::set<std::string> evaluated;
  for (const ClaimResult& v : results) evaluated.insert(v.experiment);
  std::erase_if(met_, [&](const auto& entry) { return evaluated.contains(entry.first.first); });
  for (const ClaimResult& v : results) met_[{v.experiment, v.claim()}] = v.met;
}

std::string Baseline::text() const {
  std::string out;
  for (const auto& [key, met] : met_) {
    const nlohmann::ordered_json entry{{"id", key.first}, {"claim", key.second}, {"met", met}};
    out += (out.empty() ? "  " : ",\n  ") + entry.dump();
  }
  return "[\n" + out + "\n]\n";
}

}  // namespace turnpike::lab
