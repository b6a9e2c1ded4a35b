// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/engine.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <rte_launch.h>
#include <rte_lcore.h>
#include <sys/prctl.h>

#include "common/dpdk/eal.h"

namespace turnpike::router {
namespace {

constexpr unsigned kIdlePolls = 64;  // in a row, before a worker sleeps
constexpr Nanos kNap{20'000};        // long against a poll, short against any round trip

/// Sleeps between polls of a worker that has nothing to do.
class Napper {
 public:
  Napper() {
    // The kernel may wake a sleeper up to this much late; 50 us unless told otherwise.
    prctl(PR_SET_TIMERSLACK, 1000UL);
  }
  void after_poll(bool moved, Nanos until_next) {
    idle_ = moved ? 0 : idle_ + 1;
    if (idle_ < kIdlePolls || until_next < kNap) return;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kNap.count()));
  }

 private:
  unsigned idle_ = 0;
};

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace

tl::expected<std::unique_ptr<Engine>, std::string> Engine::make(
    const config::Topology& topology, size_t node, const std::vector<LinkDevice>& devices,
    const Options& options) {
  const Needs needs = needs_of(topology, node, options.workers);
  auto pool = Pool::create("router", {.mbufs = needs.mbufs, .data_room = needs.data_room});
  if (!pool) return tl::unexpected(pool.error());
  std::unique_ptr<Engine> e(new Engine(std::move(*pool)));
  e->sleep_ = options.sleep;
  rte_mempool* const mempool = e->pool_.get();

  std::vector<std::vector<QueuePair*>> queues;
  for (size_t l = 0; l < devices.size(); ++l) {
    const config::Link& link = topology.links[topology.routers[node].links[l]];
    auto port = Port::open(devices[l].device, {.queues = devices[l].queues, .mtu = link.mtu},
                           {&mempool, 1});
    if (!port) return tl::unexpected("link " + link.name + ": " + port.error());
    e->ports_.push_back(std::move(*port));
    e->kept_ += devices[l].device.keeps;
  }
  for (size_t l = 0; l < devices.size(); ++l) {
    auto& of_workers = queues.emplace_back(options.workers, nullptr);
    // A port with one queue goes to one worker, the ports in turn.
    if (devices[l].queues == options.workers) {
      for (uint16_t w = 0; w < options.workers; ++w) of_workers[w] = &e->ports_[l].queue(w);
    } else {
      of_workers[l % options.workers] = &e->ports_[l].queue(0);
    }
    if (auto started = e->ports_[l].start(); !started) return tl::unexpected(started.error());
  }
  const std::vector<rte_mempool*> pools(options.workers, mempool);
  RouterOptions router_options;
  router_options.workers = options.workers;
  router_options.slack = options.slack;
  auto router = Router::make(topology, node, queues, pools, router_options);
  if (!router) return tl::unexpected(router.error());
  e->router_ = std::move(*router);
  return e;
}

Engine::~Engine() {
  if (running_) stop(Nanos(0));
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
  Napper napper;
  bool receiving = true;
  while (!discard_.load(std::memory_order_relaxed)) {
    if (receiving && stop_.load(std::memory_order_relaxed)) {
      worker.stop_receiving();
      receiving = false;
      stopped_.fetch_add(1);
    }
    const Nanos now = clock_->now();
    const Nanos next = worker.poll(now);
    if (sleep_) napper.after_poll(worker.moved(), next == kNever ? kNever : next - now);
  }
  worker.discard();
}

void Engine::stop(Nanos patience) {
  stop_.store(true);
  // Only when nobody puts packets into another's queue any more can a queue be called empty.
  while (stopped_.load() < router_->workers()) pause();
  const Nanos end = clock_->now() + patience;
  while (router_->held() > 0 && clock_->now() < end) pause();
  discard_.store(true);
  for (const Job& job : jobs_) rte_eal_wait_lcore(Eal::worker_lcore(job.worker));
  running_ = false;
}

tl::expected<void, std::string> Engine::close() {
  router_.reset();
  ports_.clear();
  const unsigned lost = pool_.in_use();
  if (lost > kept_)
    return tl::unexpected(std::to_string(lost) + " packet buffers were not returned");
  return {};
}

std::vector<PortStats> Engine::port_stats() const {
  std::vector<PortStats> stats;
  for (const Port& p : ports_) stats.push_back(p.stats());
  return stats;
}

}  // namespace turnpike::router
