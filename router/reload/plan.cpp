// SPDX-License-Identifier: BSD-3-Clause
#include "router/reload/plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "router/parts.h"
#include "router/reload/effects.h"
#include "router/reload/key_changes.h"
#include "router/reload/leaves.h"

namespace turnpike::router {
namespace {

using Keys = std::vector<std::string>;

constexpr size_t kMaxText = 100;  // of an added entry

/// Lengths of the beginnings of a path that name an entry: a link, a class, a customer.
std::vector<size_t> entry_lengths(const Keys& keys) {
  if (keys[0] == "traffic") return {3};
  if (keys[0] == "run") return {3};
  std::vector<size_t> lengths{2};
  if (keys[0] == "routers" && keys.size() > 3 && keys[2] == "enforce") lengths.push_back(3);
  for (size_t i = 3; i < keys.size() && keys[0] == "links"; ++i)
    if (keys[i] == "classes" || keys[i] == "law") lengths.push_back(i + 2);
  return lengths;
}

Keys first(const Keys& keys, size_t n) {
  return {keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n)};
}

/// A topology's leaves, to look up.
struct Side {
  std::vector<Leaf> leaves;
  std::map<Keys, std::string> texts;
  std::set<Keys> beginnings;

  explicit Side(std::vector<Leaf> all) : leaves(std::move(all)) {
    for (const Leaf& leaf : leaves) {
      texts.emplace(leaf.keys, leaf.text);
      for (size_t n = 1; n <= leaf.keys.size(); ++n) beginnings.insert(first(leaf.keys, n));
    }
  }

  /// The outermost entry with this leaf that the other side has not; the leaf itself if it has.
  [[nodiscard]] static Keys missing_entry(const Keys& keys, const Side& other) {
    for (const size_t n : entry_lengths(keys))
      if (n < keys.size() && !other.beginnings.contains(first(keys, n))) return first(keys, n);
    return keys;
  }
  /// The values of an entry, in short.
  [[nodiscard]] std::string text_of(const Keys& entry) const {
    std::string text;
    for (const Leaf& leaf : leaves) {
      if (leaf.keys.size() <= entry.size() ||
          !std::equal(entry.begin(), entry.end(), leaf.keys.begin()))
        continue;
      const Keys rest(leaf.keys.begin() + static_cast<std::ptrdiff_t>(entry.size()),
                      leaf.keys.end());
      text += (text.empty() ? "" : ", ") + path_of(rest) + ": " + leaf.text;
      if (text.size() > kMaxText) return text.substr(0, kMaxText - 3) + "...";
    }
    return text;
  }
};

/// Whether the leaf is a parameter of a law that only one side has: the law's own leaf says so.
bool of_other_law(const Keys& entry, const Keys& leaf) {
  return entry.size() == 5 && entry[0] == "links" && entry[3] == "law" && leaf.size() > 5;
}

class Differ {
 public:
  Differ(const Effects& effects, const Side& running, const Side& wanted)
      : effects_(effects), running_(running), wanted_(wanted) {}

  Plan run() {
    for (const Leaf& leaf : wanted_.leaves) {
      const auto before = running_.texts.find(leaf.keys);
      if (before == running_.texts.end()) {
        one_sided(leaf, true);
      } else if (before->second != leaf.text) {
        add({leaf.keys}, before->second, leaf.text);
      }
    }
    for (const Leaf& leaf : running_.leaves)
      if (!wanted_.texts.contains(leaf.keys)) one_sided(leaf, false);
    join_directions();
    return std::move(plan_);
  }

 private:
  void one_sided(const Leaf& leaf, bool added) {
    const Side &own = added ? wanted_ : running_, &other = added ? running_ : wanted_;
    const Keys entry = Side::missing_entry(leaf.keys, other);
    if (of_other_law(entry, leaf.keys)) return;
    const bool whole = entry.size() < leaf.keys.size();
    if (whole && !seen_.insert(entry).second) return;
    const std::string text = whole ? own.text_of(entry) : leaf.text;
    add({.keys = entry, .added = added && whole, .removed = !added && whole}, added ? "none" : text,
        added ? text : "none");
  }

  void add(const Difference& d, const std::string& from, const std::string& to) {
    const Consequence c = effects_.of(d);
    const bool takes = c.effect == Effect::kLive || c.effect == Effect::kRestarts;
    plan_.routes = plan_.routes || (takes && c.routes);
    plan_.customers = plan_.customers || (takes && c.customers);
    plan_.changes.push_back({path_of(d.keys), from, to, c.effect, c.note});
  }

  /// A key that changes alike in both directions of a link is listed once, with the effect at this
  /// router.
  void join_directions() {
    std::vector<PlannedChange>& all = plan_.changes;
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t at = all[i].path.find(".forward.");
      if (!all[i].path.starts_with("links.") || at == std::string::npos) continue;
      std::string reverse = all[i].path, joint = all[i].path;
      reverse.replace(at, 9, ".reverse.");
      joint.replace(at, 9, ".");
      const auto twin = std::ranges::find_if(all, [&](const PlannedChange& c) {
        return c.path == reverse && c.from == all[i].from && c.to == all[i].to;
      });
      if (twin == all.end()) continue;
      if (all[i].effect == Effect::kElsewhere) {
        all[i].effect = twin->effect;
        all[i].note = twin->note;
      }
      all[i].path = joint;
      all.erase(twin);
    }
  }

  const Effects& effects_;
  const Side &running_, &wanted_;
  std::set<Keys> seen_;
  Plan plan_;
};

constexpr std::array<const char*, 5> kEffects{"live", "restarts", "next_start", "elsewhere",
                                              "refused"};

const char* heading_of(Effect effect) {
  switch (effect) {
    case Effect::kLive:
      return "applied live";
    case Effect::kRestarts:
      return "applied live, begins anew";
    case Effect::kNextStart:
      return "from the next start on";
    case Effect::kElsewhere:
      return "not applied here";
    case Effect::kRefused:
      break;
  }
  return "cannot be changed live";
}

}  // namespace

bool Plan::applies() const {
  return std::ranges::any_of(changes, [](const PlannedChange& c) {
    return c.effect == Effect::kLive || c.effect == Effect::kRestarts;
  });
}

std::string Plan::refusal() const {
  std::string all;
  for (const PlannedChange& c : changes)
    if (c.effect == Effect::kRefused)
      all += (all.empty() ? "" : "\n") + c.path + ": " + c.from + " -> " + c.to + ": " + c.note;
  return all;
}

std::string Plan::text() const {
  if (empty()) return "nothing changes\n";
  std::string out;
  for (const PlannedChange& c : changes) {
    out += c.path + ": " + c.from + " -> " + c.to + "\n    " + heading_of(c.effect);
    out += (c.note.empty() ? "" : ": ") + c.note + "\n";
  }
  const auto refused = std::ranges::count(changes, Effect::kRefused, &PlannedChange::effect);
  if (refused > 0)
    out += "refused as a whole: " + std::to_string(refused) + " of " +
           std::to_string(changes.size()) + " changes cannot be made while the router runs\n";
  return out;
}

nlohmann::json plan_json(const Plan& plan) {
  nlohmann::json changes = nlohmann::json::array();
  for (const PlannedChange& c : plan.changes)
    changes.push_back({{"path", c.path},
                       {"from", c.from},
                       {"to", c.to},
                       {"effect", kEffects[static_cast<size_t>(c.effect)]},
                       {"note", c.note}});
  return {{"changes", std::move(changes)},
          {"applies", plan.applies()},
          {"refused", !plan.refusal().empty()}};
}

Plan plan(const config::Topology& running, const config::Topology& wanted, size_t router) {
  auto before = leaves_of(running), after = leaves_of(wanted);
  for (const auto* side : {&before, &after})
    if (!*side)
      return {.changes = {{.path = "configuration",
                           .from = "present",
                           .to = "wanted",
                           .effect = Effect::kRefused,
                           .note = side->error()}}};
  const Keys audits{"routers", running.routers[router].name, "audits"};
  const auto audits_of = [](const config::Topology& t) {
    return std::string(audited_packets(t).charges != nullptr ? "on" : "off");
  };
  before->push_back({audits, audits_of(running)});
  after->push_back({audits, audits_of(wanted)});
  const Side from(std::move(*before)), to(std::move(*after));
  Plan out = Differ(Effects(running, wanted, router), from, to).run();
  for (PlannedChange& change : key_changes(running, wanted, running.routers[router].name))
    out.changes.push_back(std::move(change));
  return out;
}

}  // namespace turnpike::router
