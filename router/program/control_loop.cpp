// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/control_loop.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "common/config/resolve.h"
#include "common/program/control_path.h"
#include "common/program/sandbox/syscall_filter.h"
#include "common/program/signals.h"
#include "router/program/bypass_request.h"
#include "router/program/collect.h"
#include "router/program/gateway_accounts.h"
#include "router/program/show.h"
#include "router/program/show_neighbours.h"
#include "router/program/show_routes.h"
#include "router/telemetry/figures_json.h"
#include "router/telemetry/metrics.h"

namespace turnpike::router {

namespace {

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

ControlLoop::ControlLoop(const Controlled& controlled)
    : on_(controlled),
      name_(on_.topology.routers[on_.node].name),
      started_(unix_time() - to_seconds(on_.clock.now())),
      observer_(loop_, {.engine = on_.engine,
                        .clock = on_.clock,
                        .topology = on_.topology,
                        .node = on_.node,
                        .unix_offset = static_cast<int64_t>(started_ * 1e9)}),
      sampler_(started_),
      output_(STDOUT_FILENO),
      live_(report::live_style(on_.options.live, stdout), output_),
      links_(on_.engine.monitor()),
      end_(on_.options.duration ? on_.clock.now() + *on_.options.duration : kNever),
      next_(on_.clock.now() + on_.topology.run.sample) {
  on_.engine.follow_links(links_);
}

tl::expected<void, std::string> ControlLoop::listen() {
  if (on_.options.control == "off") return {};
  const std::string path = control_path(control_folder(on_.options.control), name_);
  auto server = ControlServer::listen(loop_, path);
  if (!server) return tl::unexpected(server.error());
  server_ = std::move(*server);
  serve();
  spdlog::info("control socket {}", path);
  return {};
}

void ControlLoop::serve() {
  observer_.serve(*server_);
  on_.reload.serve(*server_);
  server_->answer("show", [this](const Json& request) -> tl::expected<Json, Failure> {
    const std::string what = request.value("what", "");
    const config::Topology& running = on_.reload.running();
    if (what == "config")
      return Json{{"text", config::resolved_text(running)},
                  {"generation", on_.reload.generation()},
                  {"last_pause_us", to_seconds(on_.reload.changes().last_pause) * 1e6}};
    const ShownRoutes routes{.topology = running,
                             .node = on_.reload.node(),
                             .router = on_.engine.router(),
                             .linux_control = on_.engine.linux_control()};
    if (what == "routes") return show_routes(request, routes);
    if (what == "linux") return show_linux(routes);
    if (what == "neighbours") return show_neighbours(request, routes, on_.clock.now());
    snapshot_ = on_.engine.router().snapshot();
    return show(request, {.engine = on_.engine,
                          .topology = running,
                          .node = on_.reload.node(),
                          .snapshot = snapshot_,
                          .sample = last_,
                          .uptime = on_.clock.now()});
  });
  server_->answer("bypass",
                  [this](const Json& request) { return bypass(request, on_.engine.gateway()); });
  server_->answer("top", [this](const Json&) -> tl::expected<Json, Failure> {
    return figures_json(figures());
  });
}

tl::expected<void, std::string> ControlLoop::serve_metrics() {
  if (!on_.options.metrics) return {};
  auto server = MetricsServer::start(*on_.options.metrics);
  if (!server) return tl::unexpected(server.error());
  metrics_ = std::move(*server);
  spdlog::info("metrics at http://{}/metrics", metrics_->address().text());
  return {};
}

tl::expected<void, std::string> ControlLoop::keep_accounts() {
  if (on_.options.accounting.empty()) return {};
  auto file = DailyFile::open(on_.options.accounting, name_, Accounts::kColumns);
  if (!file) return tl::unexpected("--accounting: " + file.error());
  accounts_.emplace(std::move(*file), on_.clock.now());
  return {};
}

void ControlLoop::write_accounts() {
  if (!accounts_) return;
  const Nanos now = on_.clock.now();
  next_accounts_ = now + Accounts::kInterval;
  const auto unix_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                           std::chrono::system_clock::now().time_since_epoch())
                           .count();
  if (const auto line = accounts_->write(accounts_of(on_.engine.gateway()), now, unix_ns))
    spdlog::warn(*line);
}

tl::expected<void, std::string> ControlLoop::end_accounts() {
  write_accounts();
  if (accounts_ && accounts_->failing())
    return tl::unexpected(std::string("the last accounts of customers are not written"));
  return {};
}

Figures ControlLoop::figures() const {
  Figures f = collect(on_.engine, name_,
                      {.now = on_.clock.now(), .unix_now = unix_time(), .started = started_});
  f.generation = on_.reload.generation();
  f.changes = on_.reload.changes();
  if (const auto at = on_.reload.last_change()) f.changes.last = started_ + to_seconds(*at);
  if (const LinuxControl* control = on_.engine.linux_control())
    f.netlink = control->figures(on_.clock.now());
  if (accounts_) f.account_failures = accounts_->failures();
  if (metrics_)
    f.requests = {
        .served = metrics_->served(), .refused = metrics_->refused(), .cut = metrics_->cut()};
  return f;
}

tl::expected<void, std::string> ControlLoop::run() {
  asio::steady_timer timer(loop_);
  const std::function<void(const asio::error_code&)> next = [&](const asio::error_code&) {
    tick();
    const Nanos now = on_.clock.now();
    if (end_requests() != 0 || now >= end_ || !links_.fatal().empty()) return loop_.stop();
    const Nanos pause = std::min(
        {next_ - now, end_ == kNever ? kNever : end_ - now, next_balance_ - now, Nanos(20_ms)});
    timer.expires_after(std::chrono::nanoseconds(std::max<int64_t>(pause.count(), 0)));
    timer.async_wait(next);
  };
  watch_linux();
  next({});
  loop_.run();
  observer_.end();
  if (!links_.fatal().empty()) return tl::unexpected(links_.fatal());
  return {};
}

void ControlLoop::serve_linux() {
  const Nanos now = on_.clock.now();
  const Nanos due = on_.engine.serve_linux(links_, now);
  for (const std::string& line : on_.engine.linux_control()->take_lines()) spdlog::info(line);
  // There is more to read: requests and the sockets of others come first.
  if (due <= now) asio::post(loop_, [this] { serve_linux(); });
}

void ControlLoop::balance() {
  next_balance_ = on_.engine.balance();
  if (next_balance_ == kNever) return;
  for (const std::string& line : on_.engine.balancer()->take_lines()) spdlog::info(line);
}

// Reads what the kernel says at once; everything that waits for a time is looked at in tick().
void ControlLoop::watch_linux() {
  if (on_.engine.linux_control() == nullptr) return;
  for (const int fd : on_.engine.linux_control()->fds()) kernel_.emplace_back(loop_, dup(fd));
  const auto wait = [this](const auto& again, asio::posix::stream_descriptor& socket) -> void {
    socket.async_wait(asio::posix::stream_descriptor::wait_read,
                      [this, again, &socket](const asio::error_code& failed) {
                        if (failed) return;
                        serve_linux();
                        again(again, socket);
                      });
  };
  for (auto& socket : kernel_) wait(wait, socket);
}

void ControlLoop::tick() {
  const Nanos now = on_.clock.now();
  on_.manager.watch(now, on_.engine.progress());
  for (const std::string& line : links_.poll(now)) spdlog::info(line);
  on_.engine.follow_links(links_);
  if (on_.engine.linux_control() != nullptr) serve_linux();
  if (now >= next_balance_) balance();
  if (take_reload_request()) {
    const auto reloaded = on_.reload.reload_file();
    for (const std::string& line : reloaded ? *reloaded : reloaded.error())
      spdlog::log(reloaded ? spdlog::level::info : spdlog::level::warn, line);
  }
  if (const auto reverted = on_.reload.poll()) spdlog::warn(*reverted);
  if (accounts_ && now >= next_accounts_) write_accounts();
  if (now >= next_nic_drops_) {
    on_.engine.count_nic_drops();
    next_nic_drops_ = now + kNicInterval;
  }
  if (metrics_ && now >= next_page_) {
    const Figures f = figures();
    metrics_->publish(metrics_page(f, metrics::TextFormat::kPrometheus),
                      metrics_page(f, metrics::TextFormat::kOpenMetrics));
    next_page_ = now + kPageInterval;
  }
  if (now < next_) return;
  sample(now);
  next_ = std::max(next_ + on_.reload.running().run.sample, now);
}

void ControlLoop::sample(Nanos now) {
  const Router& router = on_.engine.router();
  last_ = sampler_.take(router.snapshot(), now);
  last_.stalled_ms = to_seconds(on_.engine.stalled()) * 1e3;
  on_.record.add(last_);
  for (const std::string& line : new_refusals()) spdlog::warn("sandbox: refused {}", line);
  for (const std::string& line : customers_.lines(router.customers(), router.offenders(), now))
    spdlog::warn(line);
  if (on_.options.live == "json") {
    output_.write(json_text(last_, name_) + "\n");
  } else {
    live_.show(view_of(last_, name_));
  }
  if (const uint64_t left = output_.left_out(); left != left_out_) {
    spdlog::warn("the reader of standard output is slow: views were left out, {} in all", left);
    left_out_ = left;
  }
}

}  // namespace turnpike::router
