// SPDX-License-Identifier: BSD-3-Clause
#include "router/reload/reconfigurer.h"

#include <algorithm>
#include <utility>

#include "common/units/text.h"

namespace turnpike::router {
namespace {

using Done = tl::expected<void, std::string>;
using Said = tl::expected<std::string, std::string>;

constexpr Nanos kRetry = 1_s;

/// Puts the links of the router of the same name into the order of `self`, a router of `running`:
/// the data path knows them by their places.
void keep_link_order(const config::Router& self, const config::Topology& running,
                     config::Topology& wanted) {
  const auto at = std::ranges::find(wanted.routers, self.name, &config::Router::name);
  if (at == wanted.routers.end()) return;
  const auto place = [&](size_t l) {
    return std::ranges::find(self.links, wanted.links[l].name,
                             [&](size_t k) { return running.links[k].name; }) -
           self.links.begin();
  };
  std::ranges::stable_sort(at->links, {}, place);
}

std::vector<config::Mistake> mistake(const std::string& file, const std::string& message) {
  config::Mistake m;
  m.file = file;
  m.message = message;
  return {m};
}

}  // namespace

Reconfigurer::Reconfigurer(Router& router, config::Topology running, std::optional<History> history,
                           Hooks hooks)
    : router_(router),
      running_(std::move(running)),
      history_(std::move(history)),
      hooks_(std::move(hooks)) {}

size_t Reconfigurer::node() const {
  const auto at = std::ranges::find(running_.routers, router_.name(), &config::Router::name);
  return static_cast<size_t>(at - running_.routers.begin());
}

Done Reconfigurer::begin(const std::string& source) {
  if (!history_) return {};
  const auto number = history_->add(running_, source);
  if (!number) return tl::unexpected(number.error());
  return history_->commit(*number);
}

Reconfigurer::Check Reconfigurer::compare(config::Loaded loaded, std::string source) const {
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  if (hooks_.adjust) hooks_.adjust(*loaded);
  keep_link_order(running_.routers[node()], running_, *loaded);
  Checked out;
  out.topology = std::move(*loaded);
  out.source = std::move(source);
  out.plan = plan(running_, out.topology, node());
  return out;
}

// A file without a name has that of its file, and ports have names after it.
config::Setting Reconfigurer::same_name() const { return {"run.name", running_.run.name}; }

Reconfigurer::Check Reconfigurer::check_file(const std::string& path) const {
  const config::Setting name = same_name();
  return compare(config::load_file(path, {&name, 1}), path);
}

Reconfigurer::Check Reconfigurer::check_text(const std::string& text,
                                             const std::string& name) const {
  const config::Setting same = same_name();
  return compare(config::load_text(text, name, {&same, 1}), name);
}

Reconfigurer::Check Reconfigurer::check_entry(uint64_t number) const {
  if (pending_ && number == 0)
    return compare(pending_->before, "the configuration before the change");
  if (!history_)
    return tl::unexpected(mistake("history", "this router keeps none: give it --state DIR"));
  if (number == 0) {
    const auto chosen = history_->before(1);
    if (!chosen) return tl::unexpected(mistake("history", "there is no earlier configuration"));
    number = *chosen;
  }
  const config::Setting name = same_name();
  auto out = compare(config::load_file(history_->path(number), {&name, 1}),
                     "configuration " + std::to_string(number));
  if (out) out->number = number;
  return out;
}

Done Reconfigurer::switch_to(const config::Topology& wanted) {
  auto change = router_.prepare(running_, wanted);
  if (!change) return tl::unexpected(change.error());
  std::function<void()> beside;
  if (hooks_.beside) {
    auto prepared = hooks_.beside(wanted);
    if (!prepared) return tl::unexpected(prepared.error());
    beside = std::move(*prepared);
  }
  if (auto held = hooks_.hold([&] {
        router_.apply(**change);
        if (beside) beside();
      });
      !held)
    return held;
  router_.apply_routes(**change);
  running_ = wanted;
  return {};
}

Said Reconfigurer::apply(const Checked& checked, Nanos now, std::optional<Nanos> confirm_after) {
  if (pending_)
    return tl::unexpected(
        std::string("a change waits for its confirmation: commit it or roll it back first"));
  if (std::string why = checked.plan.refusal(); !why.empty()) return tl::unexpected(why);
  if (checked.plan.empty()) return std::string("nothing changes");
  uint64_t number = checked.number;
  if (history_ && number == 0) {
    const auto added = history_->add(checked.topology, checked.source);
    if (!added) return tl::unexpected("nothing was changed: " + added.error());
    number = *added;
  }
  if (history_)
    if (auto marked = history_->set_pending(number); !marked)
      return tl::unexpected("nothing was changed: " + marked.error());
  config::Topology before = running_;
  if (auto done = switch_to(checked.topology); !done) {
    if (history_) (void)history_->drop_pending();  // a start would do the same
    return tl::unexpected(done.error());
  }
  const std::string name = history_ ? "configuration " + std::to_string(number) : checked.source;
  if (confirm_after) {
    pending_ = {std::move(before), number, now + *confirm_after};
    return name + " is applied, and is reverted in " + to_text(*confirm_after) +
           " unless it is committed";
  }
  if (history_)
    if (auto kept = history_->commit(number); !kept) {
      if (auto back = switch_to(before); !back)
        return tl::unexpected(name + " is applied, but a restart will not begin with it: " +
                              kept.error() + "; it cannot be reverted: " + back.error());
      (void)history_->drop_pending();
      return tl::unexpected("nothing was changed: " + kept.error());
    }
  return name + " is applied";
}

Said Reconfigurer::commit() {
  if (!pending_) return tl::unexpected(std::string("no change waits for its confirmation"));
  if (history_)
    if (auto kept = history_->commit(pending_->number); !kept) return tl::unexpected(kept.error());
  const uint64_t number = std::exchange(pending_, std::nullopt)->number;
  return history_ ? "configuration " + std::to_string(number) + " is committed"
                  : std::string("the change is confirmed");
}

Said Reconfigurer::revert() {
  if (auto done = switch_to(pending_->before); !done) return tl::unexpected(done.error());
  const uint64_t number = std::exchange(pending_, std::nullopt)->number;
  if (history_) (void)history_->drop_pending();  // a start would do the same
  return history_ ? "configuration " + std::to_string(number) + " is reverted"
                  : std::string("the change is reverted");
}

Said Reconfigurer::rollback(uint64_t number, Nanos now) {
  if (pending_ && (number == 0 || (history_ && history_->committed() == number))) return revert();
  if (pending_)
    if (auto done = revert(); !done) return done;
  const auto checked = check_entry(number);
  if (!checked) return tl::unexpected(checked.error().front().text());
  auto done = apply(*checked, now);
  if (done && checked->plan.empty() && history_)
    if (auto kept = history_->commit(checked->number); !kept) return tl::unexpected(kept.error());
  return done;
}

std::optional<Said> Reconfigurer::poll(Nanos now) {
  if (!pending_ || now < pending_->due) return {};
  const auto done = revert();
  if (done) return "not confirmed in time: " + *done;
  pending_->due = now + kRetry;
  return tl::unexpected("not confirmed in time, but not reverted yet: " + done.error());
}

}  // namespace turnpike::router
