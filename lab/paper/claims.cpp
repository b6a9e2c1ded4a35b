// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/claims.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "common/report/number.h"
#include "common/report/run_data.h"
#include "lab/paper/bounds.h"

namespace turnpike::lab {
namespace {

using report::significant;

const MetricSpec& metric_of(const Experiment& e, const std::string& name) {
  return *std::ranges::find(e.metrics, name, &MetricSpec::name);
}

/// A value of the paper or of a model may be a number, in the metric's unit, or any text.
std::string value_text(const std::string& value, const MetricSpec& m) {
  const bool plain = value.find_first_not_of("0123456789.-") == std::string::npos;
  return plain ? with_unit(value, m) : value;
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

Evaluation evaluate(const Experiment& e, const Metrics& metrics) {
  const auto one = [&](const CheckSpec& c) {
    const MetricSpec& m = metric_of(e, c.metric);
    const double v = shown(m, metrics);
    const double other = c.other.empty() ? 0 : shown(metric_of(e, c.other), metrics);
    CheckResult result{.experiment = e.id,
                       .metric = m.name,
                       .paper = value_text(c.paper, m),
                       .model = value_text(c.model, m),
                       .here = shown_text(v, m),
                       .bound = bound_text(c, m),
                       .wider = c.wider,
                       .why = c.why,
                       .met = holds(c, v, other)};
    if (!c.other.empty()) result.other = shown_text(other, metric_of(e, c.other));
    if (c.model.empty() && m.reference) result.model = shown_text(m.reference->value, m);
    return result;
  };
  Evaluation all;
  for (const ClaimSpec& claim : e.claims) {
    ClaimResult& result = all.claims.emplace_back(ClaimResult{&claim, {}});
    for (const CheckSpec& c : claim.checks) result.checks.push_back(one(c));
  }
  for (const CheckSpec& c : e.own) all.own.push_back(one(c));
  return all;
}

std::vector<std::string> faults(const Evaluation& evaluation) {
  std::vector<std::string> all;
  evaluation.each([&](const CheckResult& c) {
    const std::string name = c.experiment + ": " + c.check();
    if (c.met && !c.why.empty())
      all.push_back(name + ": is met, and has a reason for not being met");
    if (!c.met && c.why.empty()) all.push_back(name + ": is not met, and has no reason");
  });
  return all;
}

std::vector<std::string> unbroken(const Evaluation& evaluation) {
  std::vector<std::string> all;
  evaluation.each([&](const CheckResult& c) {
    if (c.met && c.broken_by.empty())
      all.push_back(c.experiment + ": " + c.check() +
                    ": no mutation of a run is known to break it");
  });
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
                       entry.contains("check") && entry["check"].is_string() &&
                       entry.contains("met") && entry["met"].is_boolean() &&
                       (!entry.contains("broken_by") || entry["broken_by"].is_string());
    if (!right) return tl::unexpected("not {id, check, met, broken_by}: " + entry.dump());
    b.known_[{entry["id"], entry["check"]}] = {entry["met"], entry.value("broken_by", "")};
  }
  return b;
}

void Baseline::compare(Evaluation& evaluation) const {
  evaluation.each([&](CheckResult& c) {
    const auto known = known_.find({c.experiment, c.check()});
    if (known != known_.end()) c.lost = !c.met && known->second.met;
  });
}

void Baseline::recall_mutants(Evaluation& evaluation) const {
  evaluation.each([&](CheckResult& c) {
    const auto known = known_.find({c.experiment, c.check()});
    if (known != known_.end() && c.met) c.broken_by = known->second.broken_by;
  });
}

void Baseline::update(const std::string& experiment, const Evaluation& evaluation) {
  std::erase_if(known_, [&](const auto& entry) { return entry.first.first == experiment; });
  evaluation.each([&](const CheckResult& c) {
    known_[{experiment, c.check()}] = {c.met, c.broken_by};
  });
}

std::string Baseline::text() const {
  std::string out;
  for (const auto& [key, known] : known_) {
    nlohmann::ordered_json entry{{"id", key.first}, {"check", key.second}, {"met", known.met}};
    if (!known.broken_by.empty()) entry["broken_by"] = known.broken_by;
    out += (out.empty() ? "  " : ",\n  ") + entry.dump();
  }
  return "[\n" + out + "\n]\n";
}

}  // namespace turnpike::lab
