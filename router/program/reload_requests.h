// SPDX-License-Identifier: BSD-3-Clause
// The requests `reload`, `commit` and `rollback`, and what they have done so far.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/time/clock.h"
#include "router/program/control_server.h"
#include "router/program/engine.h"
#include "router/reload/reconfigurer.h"
#include "router/telemetry/figures.h"

namespace turnpike::router {

/// Used by the control thread.
class ReloadRequests {
 public:
  struct Parts {
    Engine& engine;
    const TscClock& clock;
    config::Topology running;  // with which the router was made
    std::string file;          // of the command line: what a reload without a file reads
    std::optional<History> history = {};
    std::function<void(config::Topology&)> adjust = {};  // see Reconfigurer::Hooks
  };
  explicit ReloadRequests(Parts parts);
  ReloadRequests(const ReloadRequests&) = delete;
  ReloadRequests& operator=(const ReloadRequests&) = delete;

  /// Records the configuration that the program starts with, unless it came from the history.
  tl::expected<void, std::string> begin();
  /// Answers {"request":"reload","file":F,"dry_run":B,"confirm_s":S}, "commit", and
  /// {"request":"rollback","steps":N,"dry_run":B} on this server.
  void serve(ControlServer& server);
  using Lines = std::vector<std::string>;
  /// Reads the file again, applies and keeps it, as SIGHUP asks. Returns lines for the log; the
  /// error: why nothing was changed.
  tl::expected<Lines, Lines> reload_file();
  /// Reverts a change that has not been confirmed in time. Returns a line for the log if it did.
  std::optional<std::string> poll();

  [[nodiscard]] const config::Topology& running() const { return reconfigurer_.running(); }
  /// Index of the router in running().
  [[nodiscard]] size_t node() const { return reconfigurer_.node(); }
  [[nodiscard]] ChangeFigures changes() const;
  /// Time of the last change that was applied or reverted; none: none was.
  [[nodiscard]] std::optional<Nanos> last_change() const { return last_change_; }
  /// 1 + changes since the start.
  [[nodiscard]] uint64_t generation() const { return 1 + changes_.applied + changes_.reverted; }

 private:
  using Answer = tl::expected<Json, Failure>;
  Answer reload(const Json& request);
  Answer rollback(const Json& request);
  Answer commit();
  Answer apply(const Reconfigurer::Check& checked, bool dry_run, std::optional<Nanos> confirm);
  tl::expected<uint64_t, Failure> entry_before(const Json& request) const;
  tl::expected<void, std::string> hold(Engine& engine, const std::function<void()>& change);
  void count(uint64_t& kind);
  void count_kept();

  const TscClock& clock_;
  std::string file_;
  Reconfigurer reconfigurer_;
  ChangeFigures changes_;
  std::optional<Nanos> last_change_;
};

}  // namespace turnpike::router
