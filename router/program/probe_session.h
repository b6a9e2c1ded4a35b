// SPDX-License-Identifier: BSD-3-Clause
// An operator's look at the packets of a running router: a trace, a capture or figures of flows.
#pragma once

#include <cstdint>
#include <optional>

#include "common/time/clock.h"
#include "router/datapath/probe/probe.h"
#include "router/program/control_server.h"
#include "router/program/engine.h"

namespace turnpike::router {

/// The router that sessions look at. All of it must outlive them.
struct ProbedRouter {
  Engine& engine;
  const TscClock& clock;
  const config::Topology& topology;
  size_t node;          // index of the router
  int64_t unix_offset;  // ns since 1970 at the clock's zero

  [[nodiscard]] const config::Router& self() const { return topology.routers[node]; }
  [[nodiscard]] const config::Link& link(size_t l) const { return topology.links[self().links[l]]; }
};

constexpr Nanos kHeartbeat = 250_ms;            // longest silence to a client
constexpr size_t kMaxUnread = size_t{1} << 20;  // B that a client may leave unread

/// Used by the control thread. Its traces and mirrors are at the workers while it is in the hands
/// of the Observer.
class ProbeSession {
 public:
  ProbeSession() = default;
  ProbeSession(const ProbeSession&) = delete;
  ProbeSession& operator=(const ProbeSession&) = delete;
  virtual ~ProbeSession() = default;

  /// Adds this session's part to the probe of a worker.
  virtual void add_to(Probe::Parts& parts, unsigned worker) = 0;
  /// Reads what the workers have written. Called every 10 ms or later.
  virtual void drain(Nanos now) = 0;
  /// Whether a client waits for more.
  [[nodiscard]] virtual bool open() const = 0;
  /// The router ends.
  virtual void end() = 0;
};

/// A session for one client, until that goes away or has what it asked for.
class ClientSession : public ProbeSession {
 public:
  [[nodiscard]] bool open() const override { return call->open(); }
  void end() override {
    if (call->open()) call->fail({"ended", "the router ends"});
  }

 protected:
  explicit ClientSession(std::shared_ptr<Call> from) : call(std::move(from)) {}

  std::shared_ptr<Call> call;
  Nanos said{0};  // last part of the answer
};

}  // namespace turnpike::router
