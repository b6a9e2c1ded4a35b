// SPDX-License-Identifier: BSD-3-Clause
// Classes of a link's direction: their order, policies and conditions.
#include <algorithm>
#include <limits>

#include "common/config/describe.h"
#include "common/config/draft.h"
#include "common/protocols/link_law.h"
#include "common/protocols/registry.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

std::string joined(std::string path, std::string_view name) {
  return path.append(".").append(name);
}

/// A class with a queue: as placed, as the file gives it, and where.
struct Leaf {
  LinkClass placed;
  const LeafClassSpec* spec = nullptr;
  std::string path;
  decltype(Named<LeafClassSpec>::at) at;
};

constexpr double kMaxLegacy = 0.95;  // share that all legacy classes of a link may be guaranteed

template <class T, class Out>
void copy(const Field<OneOrMany<T>>& from, Out& to) {
  for (const auto& item : from.value.items) {
    if (item.wrong) continue;
    if constexpr (std::is_same_v<T, AddressSpec>) {
      to.push_back(item.value.prefix);
    } else {
      to.push_back(item.value);
    }
  }
}

ClassMatch match_of(const MatchSpec& spec) {
  ClassMatch out;
  copy(spec.dscp, out.dscp);
  copy(spec.protocol, out.protocol);
  copy(spec.port, out.port);
  copy(spec.source, out.source);
  copy(spec.destination, out.destination);
  if (spec.unpriced.given) out.unpriced = spec.unpriced.value;
  return out;
}

bool has_conditions(const MatchSpec& m) {
  return m.dscp.given || m.protocol.given || m.port.given || m.source.given ||
         m.destination.given || m.unpriced.given;
}

bool is_standard(const PolicySpec& p) {
  return !p.stability.given && !p.deadline.given && !p.priority.given && !p.legacy.given;
}

void place_policy(const PolicySpec& spec, ClassRule& out) {
  if (spec.stability.given) {
    out.policy = PricingPolicy::kStability;
    out.factor = spec.stability.value.factor.value;
  } else if (spec.deadline.given) {
    out.policy = PricingPolicy::kDeadline;
    out.cap = bytes_per_second(spec.deadline.value.cap.value);
    out.price = spec.deadline.value.price.value.count();
  } else if (spec.priority.given) {
    out.policy = PricingPolicy::kPriority;
    out.factor = spec.priority.value.factor.value;
  } else if (spec.legacy.given) {
    out.policy = PricingPolicy::kLegacy;
    out.share = spec.legacy.value.share.value;
    out.discipline = spec.legacy.value.discipline.value == kLegacyQueues[0] ? LegacyQueue::kDropTail
                                                                            : LegacyQueue::kRed;
  }
}

LinkClass class_of(const std::string& name, const LeafClassSpec& spec) {
  LinkClass out;
  out.rule.name = name;
  out.match = match_of(spec.match.value);
  place_policy(spec.policy.value, out.rule);
  if (spec.queue.value.strict.given) out.rule.weight = std::numeric_limits<double>::infinity();
  if (spec.queue.value.weight.given) out.rule.weight = spec.queue.value.weight.value;
  if (spec.buffer.given) out.buffer = spec.buffer.value;
  return out;
}

/// Reports conditions that are missing where they are needed, and given where they would hide
/// nothing: the last class takes all packets that are left.
template <class Spec>
void check_order(Draft& d, const Table<Spec>& table, const std::string& path) {
  for (size_t i = 0; i < table.size(); ++i) {
    const auto& [name, at, spec] = table[i];
    const std::string place = joined(path, name);
    const bool last = i + 1 == table.size();
    if (last && spec.match.given) {
      d.mistakes.add(spec.match.at, place + ".match",
                     "the last class takes all packets that no other matches: remove 'match'");
    } else if (!last && !spec.match.wrong && !has_conditions(spec.match.value)) {
      d.mistakes.add(at, place, "only the last class may lack 'match'");
    }
    if constexpr (std::is_same_v<Spec, ClassSpec>) {
      if (spec.classes.given) {
        check_order(d, spec.classes.value, place + ".classes");
        continue;
      }
    }
    if (last && !spec.policy.wrong && !is_standard(spec.policy.value))
      d.mistakes.add(spec.policy.at, place + ".policy", "the last class must be 'standard'");
  }
}

/// The classes that have queues: those of outer classes in their place. In a tree, an outer class
/// without classes is one itself.
std::vector<Leaf> leaves_of(Draft& d, const Table<ClassSpec>& table, const std::string& path) {
  const bool tree = std::ranges::any_of(table, [](const auto& c) { return c.value.classes.given; });
  std::vector<Leaf> out;
  for (unsigned i = 0; i < table.size(); ++i) {
    const auto& [name, at, spec] = table[i];
    const std::string place = joined(path, name);
    const ClassQueueSpec& queue = spec.queue.value;
    const double weight = queue.weight.given ? queue.weight.value : 1;
    if (tree && queue.strict.given)
      d.mistakes.add(spec.queue.at, place + ".queue", "in a tree, outer classes share by weight");
    const size_t first = out.size();
    if (!spec.classes.given) {
      out.push_back({class_of(name, spec), &spec, place, at});
      if (tree && spec.policy.value.deadline.given)
        d.mistakes.add(spec.policy.at, place + ".policy",
                       "what it refuses needs another class beside it in an outer class");
    } else {
      if (spec.policy.given || spec.buffer.given)
        d.mistakes.add(spec.policy.given ? spec.policy.at : spec.buffer.at, place,
                       "its classes have the policies and buffers");
      for (const auto& inner : spec.classes.value) {
        out.push_back({class_of(inner.name, inner.value), &inner.value,
                       joined(place + ".classes", inner.name), inner.at});
        Leaf& leaf = out.back();
        leaf.placed.parent = name;
        leaf.placed.parent_match = match_of(spec.match.value);
      }
    }
    for (size_t k = first; tree && k < out.size(); ++k) {
      out[k].placed.rule.parent = i;
      out[k].placed.rule.parent_weight = weight;
      if (!spec.classes.given) out[k].placed.rule.weight = 0;
    }
  }
  return out;
}

/// Figures of classes are named after them.
void check_names(Draft& d, const std::vector<Leaf>& leaves) {
  for (size_t i = 0; i < leaves.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (leaves[i].placed.rule.name == leaves[k].placed.rule.name)
        d.mistakes.add(leaves[i].at, leaves[i].path, "another class has this name");
}

void check_shares(Draft& d, const std::vector<Leaf>& leaves, BitRate rate) {
  double legacy = 0;
  for (const auto& [placed, of, path, at] : leaves) {
    const LeafClassSpec& spec = *of;
    const ClassRule& rule = placed.rule;
    if (rule.policy == PricingPolicy::kDeadline && rule.cap >= bytes_per_second(rate)) {
      const auto& cap = spec.policy.value.deadline.value.cap;
      if (!cap.wrong)
        d.mistakes.add(cap.at, path + ".policy.deadline.cap",
                       to_text(cap.value) + " is not below the link's rate, " + to_text(rate));
    }
    if (rule.policy != PricingPolicy::kLegacy) continue;
    legacy += rule.share;
    if (legacy > kMaxLegacy)
      d.mistakes.add(spec.policy.at, path + ".policy",
                     "legacy classes share more than 0.95 of the link");
  }
}

}  // namespace

void place_classes(Draft& d, size_t index, size_t direction) {
  const LinkSpec& link = d.link_spec(index);
  const DirectionSpec& own = (direction == 0 ? link.forward : link.reverse).value;
  const bool overridden = own.classes.given;
  const Field<Table<ClassSpec>>& field = overridden ? own.classes : link.classes;
  if (!field.given || field.wrong) return;
  const std::string path = d.link_path(index) +
                           (!overridden      ? ""
                            : direction == 0 ? ".forward"
                                             : ".reverse") +
                           ".classes";
  Link& placed = d.topology.links[index];
  Direction& out = placed.directions[direction];
  if (d.hosts.contains(placed.ends[direction].node)) {
    if (overridden) d.mistakes.add(field.at, path, "a host's port has no classes");
    return;
  }
  const Protocol* protocol = find_protocol(out.law.protocol);
  if (protocol == nullptr || protocol->make_classed_law == nullptr) {
    d.mistakes.add(field.at, path, "classes need 'law: fcp'");
    return;
  }
  if (out.drain == Drain::kLineRate) {
    d.mistakes.add(field.at, path,
                   "classes need 'drain: shaped': a port sends in order of arrival");
    return;
  }
  const Table<ClassSpec>& table = field.value;
  const std::vector<Leaf> leaves = leaves_of(d, table, path);
  if (leaves.size() < 2 || leaves.size() > kMaxClasses) {
    d.mistakes.add(field.at, path,
                   "a link has 2 to " + std::to_string(kMaxClasses) + " classes, not " +
                       std::to_string(leaves.size()));
    return;
  }
  for (const Leaf& leaf : leaves) out.classes.push_back(leaf.placed);
  // Settings of both directions are checked once.
  const bool checked = !overridden && direction == 1 && !placed.directions[0].classes.empty() &&
                       !link.forward.value.classes.given;
  if (checked) return;
  check_order(d, table, path);
  check_names(d, leaves);
  check_shares(d, leaves, out.rate);
}

}  // namespace turnpike::config
