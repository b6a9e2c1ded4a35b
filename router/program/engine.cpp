// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/engine.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "common/dpdk/eal.h"
#include "common/dpdk/interrupt_thread.h"
#include "common/dpdk/numa.h"
#include "common/program/attachment.h"

namespace turnpike::router {
namespace {

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace

tl::expected<std::unique_ptr<Engine>, std::string> Engine::make(
    const config::Topology& topology, size_t node, const std::vector<LinkDevice>& devices,
    const Options& options) {
  const auto link = [&](size_t l) -> const config::Link& {
    return topology.links[topology.routers[node].links[l]];
  };
  std::vector<Port> ports;
  ports.reserve(devices.size());
  for (size_t l = 0; l < devices.size(); ++l) {
    auto port = Port::attach(devices[l].device);
    if (!port) return tl::unexpected("link " + link(l).name + ": " + port.error());
    ports.push_back(std::move(*port));
  }
  const int home = numa_node_of(ports);
  const ScopedNumaAffinity at_home(home);
  const Needs needs = needs_of(topology, node, options.workers);
  auto pool =
      Pool::create("router", {.mbufs = needs.mbufs, .data_room = needs.data_room, .socket = home});
  if (!pool) return tl::unexpected(pool.error());
  std::unique_ptr<Engine> e(new Engine(std::move(*pool), std::move(ports)));
  e->limits_ = options.limits;
  rte_mempool* const mempool = e->pool_.get();

  for (size_t l = 0; l < devices.size(); ++l) {
    const auto done =
        e->ports_[l].configure({.queues = devices[l].queues, .mtu = link(l).mtu}, {&mempool, 1});
    if (!done) return tl::unexpected("link " + link(l).name + ": " + done.error());
    e->kept_ += devices[l].device.keeps;
    e->links_.push_back(link(l).name);
  }
  const auto queues = e->plug_in(topology, node, devices, options.workers, needs.mbufs);
  for (size_t l = 0; l < queues.size(); ++l)
    for (unsigned w = 0; w < options.workers; ++w)
      if (queues[l][w] != nullptr)
        e->remote_ += turnpike::remote_text(link(l).name, e->ports_[l], w);
  const std::vector<rte_mempool*> pools(options.workers, mempool);
  RouterOptions router_options;
  router_options.workers = options.workers;
  router_options.slack = options.slack;
  router_options.socket = home;
  router_options.share_pool = true;
  auto router = Router::make(topology, node, queues, pools, router_options);
  if (!router) return tl::unexpected(router.error());
  e->router_ = std::move(*router);
  e->stalls_ = std::vector<Stalls>(options.workers);
  return e;
}

std::vector<std::vector<QueuePair*>> Engine::plug_in(const config::Topology& topology, size_t node,
                                                     const std::vector<LinkDevice>& devices,
                                                     unsigned workers, size_t buffers) {
  const config::Router& self = topology.routers[node];
  std::vector<std::vector<QueuePair*>> queues(devices.size());
  for (size_t l = 0; l < devices.size(); ++l) {
    const config::Link& link = topology.links[self.links[l]];
    const size_t end = link.end_at(self.name);
    const bool to_router = std::ranges::find(topology.routers, link.ends[1 - end].node,
                                             &config::Router::name) != topology.routers.end();
    const auto queue = [&](uint16_t q) -> QueuePair* {
      // The sender delays both directions of its hosts' links, a router only its transmissions.
      auto wire =
          to_router ? delay_line_at(ports_[l].queue(q), link, end, false, buffers) : nullptr;
      if (!wire) return &ports_[l].queue(q);
      return delay_lines_.emplace_back(std::move(wire)).get();
    };
    queues[l].resize(workers, nullptr);
    // A port with one queue goes to one worker; such ports go to the workers in turn.
    if (devices[l].queues == workers) {
      for (unsigned w = 0; w < workers; ++w) queues[l][w] = queue(static_cast<uint16_t>(w));
    } else {
      queues[l][l % workers] = queue(0);
    }
  }
  return queues;
}

Engine::~Engine() {
  if (running_) stop([] { return false; });
  park_interrupt_thread();  // ports are closed next
}

tl::expected<void, std::string> Engine::start(const std::function<bool()>& pause) {
  std::vector<Port*> ports;
  for (Port& p : ports_) ports.push_back(&p);
  std::string text;
  for (const std::string& reason : start_ports(ports)) text += (text.empty() ? "" : "\n") + reason;
  if (!text.empty()) return tl::unexpected(text);
  for (const size_t l : wait_for_links(ports, pause, /*clients_only=*/true))
    text += (text.empty() ? "no link to the router at the other end of " : ", ") + links_[l];
  if (!text.empty()) return tl::unexpected(text);
  return {};
}

LinkMonitor Engine::monitor() {
  std::vector<LinkMonitor::Link> links;
  for (size_t l = 0; l < ports_.size(); ++l) links.push_back({links_[l], &ports_[l]});
  return LinkMonitor(std::move(links));
}

void Engine::launch(const TscClock& clock) {
  clock_ = &clock;
  running_ = true;
  for (unsigned w = 0; w < router_->workers(); ++w) jobs_.push_back({this, w});
  for (Job& job : jobs_) {
    rte_eal_remote_launch(
        [](void* argument) {
          const Job& j = *static_cast<Job*>(argument);
          j.engine->run(j.worker);
          return 0;
        },
        &job, Eal::worker_lcore(job.worker));
  }
}

void Engine::run(unsigned index) {
  Worker& worker = router_->worker(index);
  IdleSleeper idle_sleeper(limits_);
  bool receiving = true;
  while (!discard_.load(std::memory_order_relaxed)) {
    if (receiving && stop_.load(std::memory_order_relaxed)) {
      worker.stop_receiving();
      receiving = false;
      stopped_.fetch_add(1);
    }
    const Nanos now = clock_->now();
    if (const Nanos missed = stalls_[index].missed(now); missed > Nanos(0))
      worker.stall(now - missed, now);
    const Nanos next = worker.poll(now);
    idle_sleeper.after_poll(now, worker.moved(), next == kNever ? kNever : next - now);
  }
  worker.discard();
}

void Engine::stop(const std::function<bool()>& may_wait) {
  stop_.store(true);
  // Queues can be called empty only when no worker adds packets to another's queue any more.
  while (stopped_.load() < router_->workers()) pause();
  while (router_->held() > 0 && may_wait()) pause();
  discard_.store(true);
  for (const Job& job : jobs_) rte_eal_wait_lcore(Eal::worker_lcore(job.worker));
  running_ = false;
}

tl::expected<void, std::string> Engine::close() {
  park_interrupt_thread();
  router_.reset();
  delay_lines_.clear();
  ports_.clear();
  const unsigned lost = pool_.in_use();
  if (lost > kept_)
    return tl::unexpected(std::to_string(lost) + " packet buffers were not returned");
  return {};
}

std::string Engine::stalls_text() const {
  std::string text;
  for (size_t w = 0; w < stalls_.size(); ++w)
    text += stalls_[w].text("worker " + std::to_string(w));
  return text;
}

Nanos Engine::stalled() const {
  Nanos sum(0);
  for (const Stalls& s : stalls_) sum += s.total();
  return sum;
}

std::vector<PortStats> Engine::port_stats() const {
  std::vector<PortStats> stats;
  for (const Port& p : ports_) stats.push_back(p.stats());
  return stats;
}

}  // namespace turnpike::router
