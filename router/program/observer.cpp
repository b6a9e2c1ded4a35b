// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/observer.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "router/program/capture_session.h"
#include "router/program/trace_session.h"

namespace turnpike::router {
namespace {

constexpr auto kPause = std::chrono::milliseconds(10);  // between two looks at the rings

}  // namespace

Observer::Observer(asio::io_context& loop, const ProbedRouter& on) : on_(on), timer_(loop) {}

void Observer::serve(ControlServer& server) {
  server.handle("trace", [this](const std::shared_ptr<Call>& call) {
    start(kTrace, call, &TraceSession::make);
  });
  server.handle("capture", [this](const std::shared_ptr<Call>& call) {
    start(kCapture, call, &CaptureSession::make);
  });
  server.answer("flows", [this](const Json& request) { return flows(request); });
}

void Observer::start(Kind kind, const std::shared_ptr<Call>& call, Make make) {
  std::unique_ptr<ProbeSession>& session = sessions_[kind];
  if (session && session->open()) {
    const std::string name = kind == kTrace ? "trace" : "capture";
    return call->fail(
        {"busy", "another " + name + " runs on this router: end it, or wait for its end"});
  }
  Made made = make(call, on_);
  if (!made) return call->fail(made.error());
  std::swap(session, *made);  // the former one is freed when no worker uses it
  install();
  wake();
}

tl::expected<Json, Failure> Observer::flows(const Json& request) {
  if (flows_ == nullptr) {
    auto session = std::make_unique<FlowSession>(on_);
    flows_ = session.get();
    sessions_[kFlows] = std::move(session);
    install();
    wake();
  }
  return flows_->answer(request, on_.clock.now());
}

void Observer::install() {
  std::vector<std::unique_ptr<Probe>> next;
  const unsigned workers = on_.engine.router().workers();
  const bool any = std::ranges::any_of(sessions_, [](const auto& s) { return s != nullptr; });
  for (unsigned w = 0; w < workers && any; ++w) {
    Probe::Parts parts;
    for (const auto& session : sessions_)
      if (session) session->add_to(parts, w);
    next.push_back(std::make_unique<Probe>(parts, on_.self().links.size()));
  }
  const auto exchange = [&] {
    for (unsigned w = 0; w < workers; ++w)
      on_.engine.worker(w).set_probe(next.empty() ? nullptr : next[w].get());
  };
  // Waits for as long as it takes, since the former probes are freed next.
  (void)on_.engine.at_quiescence(exchange, kNever);
  probes_ = std::move(next);
}

void Observer::end() {
  auto sessions = std::exchange(sessions_, {});
  flows_ = nullptr;
  if (!probes_.empty()) install();
  for (const auto& session : sessions)
    if (session) session->end();
}

void Observer::wake() {
  if (std::exchange(awake_, true)) return;
  timer_.expires_after(kPause);
  timer_.async_wait([this](const asio::error_code& error) {
    awake_ = false;
    if (!error) drain();
  });
}

// Sessions end here: the workers let go of their probes before these are freed.
void Observer::drain() {
  const Nanos now = on_.clock.now();
  std::vector<std::unique_ptr<ProbeSession>> ended;
  bool any = false;
  for (auto& session : sessions_) {
    if (!session) continue;
    session->drain(now);
    if (session->open()) {
      any = true;
    } else {
      if (session.get() == flows_) flows_ = nullptr;
      ended.push_back(std::move(session));
    }
  }
  if (!ended.empty()) install();
  if (any) wake();
}

}  // namespace turnpike::router
