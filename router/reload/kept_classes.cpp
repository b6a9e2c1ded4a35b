// SPDX-License-Identifier: BSD-3-Clause
#include "router/reload/kept_classes.h"

#include <algorithm>

namespace turnpike::router {
namespace {

template <class Prefix>
bool same_prefix(const Prefix& a, const Prefix& b) {
  return a.address == b.address && a.length == b.length;
}

bool same_prefixes(const std::vector<std::variant<config::Ipv4Prefix, config::Ipv6Prefix>>& a,
                   const std::vector<std::variant<config::Ipv4Prefix, config::Ipv6Prefix>>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    if (x.index() != y.index()) return false;
    return x.index() == 0 ? same_prefix(std::get<0>(x), std::get<0>(y))
                          : same_prefix(std::get<1>(x), std::get<1>(y));
  });
}

bool same_match(const config::ClassMatch& a, const config::ClassMatch& b) {
  return a.dscp == b.dscp && a.protocol == b.protocol && a.port == b.port &&
         a.unpriced == b.unpriced && same_prefixes(a.source, b.source) &&
         same_prefixes(a.destination, b.destination);
}

/// A deadline class passes packets to another one.
bool same_admission(const ClassRule& a, const ClassRule& b) {
  return a.policy == b.policy ||
         (a.policy != PricingPolicy::kDeadline && b.policy != PricingPolicy::kDeadline);
}

bool same_class(const config::LinkClass& a, const config::LinkClass& b) {
  return a.rule.name == b.rule.name && a.parent == b.parent && same_match(a.match, b.match) &&
         same_match(a.parent_match, b.parent_match) && same_admission(a.rule, b.rule);
}

}  // namespace

unsigned kept_classes(const config::Direction& running, const config::Direction& wanted,
                      unsigned before, unsigned after) {
  if (before == 1 && after == 1) return 1;
  const auto &a = running.classes, &b = wanted.classes;
  if (a.empty() != b.empty()) return 0;
  if (a.empty()) return running.law.protocol == wanted.law.protocol && before == after ? before : 0;
  const auto differ = std::ranges::mismatch(a, b, same_class);
  const auto same = static_cast<unsigned>(differ.in1 - a.begin());
  // The last class takes what no other does.
  if (same == a.size() && same == b.size()) return same;
  return std::min({same, static_cast<unsigned>(a.size()) - 1, static_cast<unsigned>(b.size()) - 1});
}

}  // namespace turnpike::router
