// SPDX-License-Identifier: BSD-3-Clause
// Classes of a direction of a link.
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "common/config/address.h"
#include "common/config/describe.h"
#include "common/config/resolve/parts.h"
#include "common/config/scalars.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

struct PrefixText {
  std::string operator()(const auto& prefix) const { return in_quotes(prefix_text(prefix)); }
};

std::string match_text(const ClassMatch& m) {
  std::vector<YamlPair> keys;
  const auto numbers = [&](const char* key, const std::vector<unsigned>& all) {
    std::vector<std::string> out;
    out.reserve(all.size());
    for (const unsigned n : all) out.push_back(std::to_string(n));
    if (!out.empty()) keys.push_back({key, listed(out)});
  };
  const auto prefixes = [&](const char* key, const auto& all) {
    std::vector<std::string> out;
    out.reserve(all.size());
    for (const auto& p : all) out.push_back(std::visit(PrefixText{}, p));
    if (!out.empty()) keys.push_back({key, listed(out)});
  };
  numbers("dscp", m.dscp);
  numbers("protocol", m.protocol);
  numbers("port", m.port);
  prefixes("source", m.source);
  prefixes("destination", m.destination);
  if (m.unpriced) keys.push_back({"unpriced", truth(*m.unpriced)});
  return keys.empty() ? std::string() : mapped(keys);
}

std::string policy_text(const ClassRule& r) {
  switch (r.policy) {
    case PricingPolicy::kStability:
      return mapped({{"stability", mapped({{"factor", number(r.factor)}})}});
    case PricingPolicy::kDeadline:
      return mapped({{"deadline", mapped({{"cap", to_text(BitRate(r.cap * 8))},
                                          {"price", to_text(Price(r.price))}})}});
    case PricingPolicy::kPriority:
      return mapped({{"priority", mapped({{"factor", number(r.factor)}})}});
    case PricingPolicy::kLegacy:
      return mapped(
          {{"legacy",
            mapped({{"share", number(r.share)},
                    {"discipline",
                     std::string(kLegacyQueues[r.discipline == LegacyQueue::kRed ? 1 : 0])}})}});
    case PricingPolicy::kStandard:
      break;
  }
  return "standard";
}

std::string queue_text(double weight) {
  return std::isinf(weight) ? "strict" : mapped({{"weight", number(weight)}});
}

std::string class_text(const LinkClass& c) {
  std::vector<YamlPair> keys;
  if (std::string match = match_text(c.match); !match.empty()) keys.push_back({"match", match});
  keys.push_back({"policy", policy_text(c.rule)});
  if (c.rule.weight > 0) keys.push_back({"queue", queue_text(c.rule.weight)});
  if (c.buffer.count() > 0) keys.push_back({"buffer", to_text(c.buffer)});
  return mapped(keys);
}

/// An outer class with its classes, which begin at `first`; moves `first` behind them.
std::string outer_text(const std::vector<LinkClass>& all, size_t& first) {
  const LinkClass& begin = all[first];
  std::vector<YamlPair> inner, keys;
  for (; first < all.size() && all[first].rule.parent == begin.rule.parent; ++first)
    inner.push_back({plain(all[first].rule.name), class_text(all[first])});
  if (std::string match = match_text(begin.parent_match); !match.empty())
    keys.push_back({"match", match});
  keys.push_back({"queue", queue_text(begin.rule.parent_weight)});
  keys.push_back({"classes", mapped(inner)});
  return mapped(keys);
}

}  // namespace

void add_classes(const Direction& d, std::vector<YamlPair>& out) {
  const bool tree = !d.classes.empty() && d.classes.back().rule.parent > 0;
  std::vector<YamlPair> classes;
  for (size_t i = 0; i < d.classes.size();) {
    LinkClass c = d.classes[i];
    if (!c.parent.empty()) {
      classes.push_back({plain(c.parent), outer_text(d.classes, i)});
      continue;
    }
    if (tree) c.rule.weight = c.rule.parent_weight;
    classes.push_back({plain(c.rule.name), class_text(c)});
    ++i;
  }
  if (!classes.empty()) out.push_back({"classes", mapped(classes)});
}

}  // namespace turnpike::config
