// SPDX-License-Identifier: BSD-3-Clause
// The verbs of a running router's configuration: check, apply, commit, roll back.
//
// Order of use:
//
//     auto history = History::open("/var/lib/turnpike/gate");
//     Reconfigurer verbs(router, topology, std::move(*history), {.hold = at_quiescence});
//     auto checked = verbs.check_file("new.yaml");     // mistakes, or a plan
//     verbs.apply(*checked, now, 60_s);                // reverted by poll() unless
//     verbs.commit();                                  // commit() comes within 60 s
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/load.h"
#include "router/reload/history.h"
#include "router/reload/plan.h"
#include "router/router.h"

namespace turnpike::router {

/// Used by the control thread. Times are those of one clock of the caller's.
class Reconfigurer {
 public:
  struct Hooks {
    /// Holds all workers, runs the function, lets them go on: Engine::at_quiescence(); in the lab,
    /// runs it. The error: it has not run.
    std::function<tl::expected<void, std::string>(const std::function<void()>&)> hold;
    /// Prepares a change beside the router's, for a gateway, and returns a function that makes it
    /// while the workers are held. The error: nothing has changed. May be empty.
    std::function<tl::expected<std::function<void()>, std::string>(const config::Topology& wanted)>
        beside = {};
    /// Changes each topology that was loaded as the program's options do at its start; may be
    /// empty.
    std::function<void(config::Topology&)> adjust = {};
  };
  /// `running`: with which the router was made. Without a history nothing survives the program, and
  /// rollback() can only take back a change that is not confirmed.
  Reconfigurer(Router& router, config::Topology running, std::optional<History> history,
               Hooks hooks);

  /// Records the configuration that the program has started with, if it came from a file and not
  /// from the history: it is committed. `source`: for people.
  tl::expected<void, std::string> begin(const std::string& source);

  struct Checked {
    config::Topology topology;
    std::string source;
    Plan plan;
    uint64_t number = 0;  // of the history, if it came from there
  };
  using Check = tl::expected<Checked, std::vector<config::Mistake>>;
  /// Loads a file or a text and compares it with the running configuration; changes nothing. The
  /// run keeps its name, whatever the file's.
  [[nodiscard]] Check check_file(const std::string& path) const;
  [[nodiscard]] Check check_text(const std::string& text, const std::string& name) const;
  /// The same for an entry of the history. Zero: the one before the committed one; with an
  /// unconfirmed change, the configuration before that, which needs no history.
  [[nodiscard]] Check check_entry(uint64_t number) const;

  /// Applies all of a plan or nothing. With `confirm_after`, poll() reverts it that time after
  /// `now` unless commit() comes before. Returns a sentence for people. The error: the plan's
  /// reasons, a change that waits for its confirmation, a lack of memory, or a history that cannot
  /// be written; nothing has changed.
  tl::expected<std::string, std::string> apply(const Checked& checked, Nanos now,
                                               std::optional<Nanos> confirm_after = {});
  /// Confirms the change that waits.
  tl::expected<std::string, std::string> commit();
  /// Goes back to an entry of the history, see check_entry().
  tl::expected<std::string, std::string> rollback(uint64_t number, Nanos now);

  /// Reverts a change whose time to confirm is over. Returns a sentence for people if it did; the
  /// error: it could not, and tries again in a second.
  std::optional<tl::expected<std::string, std::string>> poll(Nanos now);
  /// When poll() has something to do; kNever: nothing waits.
  [[nodiscard]] Nanos next() const { return pending_ ? pending_->due : kNever; }

  /// Its links at the router have the router's order, whatever the file's.
  [[nodiscard]] const config::Topology& running() const { return running_; }
  /// Index of the router in running(), which a change of other routers may move.
  [[nodiscard]] size_t node() const;
  [[nodiscard]] const History* history() const { return history_ ? &*history_ : nullptr; }

 private:
  struct Pending {
    config::Topology before;
    uint64_t number = 0;
    Nanos due{0};
  };
  [[nodiscard]] Check compare(config::Loaded loaded, std::string source) const;
  tl::expected<void, std::string> switch_to(const config::Topology& wanted);
  tl::expected<std::string, std::string> revert();
  [[nodiscard]] config::Setting same_name() const;

  Router& router_;
  config::Topology running_;
  std::optional<History> history_;
  Hooks hooks_;
  std::optional<Pending> pending_;
};

}  // namespace turnpike::router
