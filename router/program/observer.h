// SPDX-License-Identifier: BSD-3-Clause
// Serves `trace`, `capture` and `flows`: sets probes at the workers while there are sessions.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "router/program/flow_session.h"
#include "router/program/probe_session.h"

namespace turnpike::router {

/// One session of a kind at a time. Used by the control thread; the workers meet it at
/// Engine::at_quiescence() and in rings alone.
class Observer {
 public:
  Observer(asio::io_context& loop, const ProbedRouter& on);

  /// Answers "trace", "capture" and "flows".
  void serve(ControlServer& server);
  /// Ends all sessions, and takes the probes from the workers.
  void end();

 private:
  enum Kind : uint8_t { kTrace, kCapture, kFlows, kKinds };
  using Made = tl::expected<std::unique_ptr<ProbeSession>, Failure>;
  using Make = Made (*)(const std::shared_ptr<Call>&, const ProbedRouter&);

  void start(Kind kind, const std::shared_ptr<Call>& call, Make make);
  tl::expected<Json, Failure> flows(const Json& request);
  void install();
  void wake();
  void drain();

  ProbedRouter on_;
  asio::steady_timer timer_;
  bool awake_ = false;
  std::array<std::unique_ptr<ProbeSession>, kKinds> sessions_;  // by kind; null: none
  FlowSession* flows_ = nullptr;                                // of these
  std::vector<std::unique_ptr<Probe>> probes_;
};

}  // namespace turnpike::router
