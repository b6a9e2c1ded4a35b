// SPDX-License-Identifier: BSD-3-Clause
#include "lab/simulator/world.h"

#include <algorithm>
#include <utility>

#include "lab/simulator/link_options.h"
#include "router/reload/plan.h"

namespace turnpike::lab {
namespace {

// Polls in a window from which on several threads play it, if there are several. An empty window
// costs threads some microseconds, and a poll takes about one.
constexpr double kWorthThreads = 32;
constexpr double kMemory = 0.1;  // weight of the last window in the average of polls

size_t node_of(const config::Topology& t, const router::Router& router) {
  const auto at = std::ranges::find(t.routers, router.name(), &config::Router::name);
  return static_cast<size_t>(at - t.routers.begin());
}

const config::Link* named_link(const config::Topology& t, const std::string& name) {
  const auto at = std::ranges::find(t.links, name, &config::Link::name);
  return at == t.links.end() ? nullptr : &*at;
}

}  // namespace

void World::set_path(size_t link, Nanos delay, double loss) {
  links_[link].set_path(delay, loss);
  if (cut_.crosses(link)) lookahead_ = std::min(lookahead_, delay);
}

void World::poll(Part& part, uint32_t place) {
  Node& node = nodes_[part.nodes[place]];
  const Nanos now = part.now;
  ++part.polls;
  if (now < node.held_until) return part.schedule.set(place, node.held_until);
  const Nanos held = std::exchange(node.held, Nanos(0));
  Nanos next;
  if (node.worker == nullptr) {
    if (held > Nanos(0)) node.sender->stalled(now);
    next = node.sender->poll(now);
  } else {
    if (held > Nanos(0)) node.worker->stall(now - held, now);
    next = node.worker->poll(now);
    const uint32_t drains = nodes_[node.drains].place;  // of the same router
    if (drains != place && node.worker->moved()) part.schedule.wake(drains, now);
    if (node.gateway != nullptr) wake_handed(part, node, now);
  }
  part.schedule.set(place, next);
}

// The other workers of a gateway's router to which this one has handed packets.
void World::wake_handed(Part& part, const Node& node, Nanos now) {
  const std::vector<uint32_t>& workers = worker_nodes_[node.router];
  for (unsigned w = 0; w < workers.size(); ++w)
    if (node.gateway->handed(w)) part.schedule.wake(nodes_[workers[w]].place, now);
}

Nanos World::poll_time(const Part& part, Nanos at) const {
  const int64_t quantum = topology_.run.quantum.count();
  if (at <= part.now) return part.now;
  if (quantum == 0 || at >= kNever / 2) return at;
  return Nanos((at.count() + quantum - 1) / quantum * quantum);
}

Nanos World::next_poll() const {
  Nanos next = kNever;
  for (const auto& part : parts_)
    next = min(next, poll_time(*part, min(part->schedule.next(), part->sent)));
  return next;
}

// Polls the part's nodes that are due before `end`.
void World::play_window(Part& part, Nanos end) {
  for (SimChannel* channel : part.out) channel->begin_window();
  for (SimChannel* channel : part.in) channel->deliver();
  part.polls = 0;
  for (;;) {
    const Nanos next = poll_time(part, part.schedule.next());
    if (next >= end) break;
    part.now = next;
    poll(part, part.schedule.first());
  }
  find_sent(part);
}

void World::find_sent(Part& part) {
  part.sent = kNever;
  for (const SimChannel* channel : part.out) part.sent = min(part.sent, channel->earliest());
}

void World::run_until(Nanos end) {
  outcomes_.keep();
  for (const auto& part : parts_) find_sent(*part);
  for (;;) {
    const Nanos begin = next_poll();
    if (begin > end) break;
    const Nanos until = lookahead_ <= end - begin ? begin + lookahead_ : end + 1_ns;
    const auto play = [&](size_t p) { play_window(*parts_[p], until); };
    const bool parallel = parts_.size() > 1 && busy_ >= kWorthThreads;
    if (parallel)
      threads_.for_each(parts_.size(), play);
    else
      for (size_t p = 0; p < parts_.size(); ++p) play(p);
    uint64_t polls = 0, longest = 0;
    for (const auto& part : parts_) {
      polls += part->polls;
      longest = std::max(longest, part->polls);
    }
    windows_.polls += polls;
    windows_.longest += longest;
    busy_ += kMemory * (static_cast<double>(polls) - busy_);
    ++windows_.all;
    windows_.parallel += parallel;
  }
  now_ = end;
  for (const auto& part : parts_) part->now = end;
  outcomes_.report_kept(parts_);
}

tl::expected<void, std::string> World::reload(const config::Topology& wanted) {
  auto next = std::make_unique<const config::Topology>(wanted);
  const config::Topology& running = reloaded_ ? *reloaded_ : topology_;
  std::vector<router::Router::ChangePtr> changes;
  std::vector<bool> changes_at;  // by router: it has to be polled
  std::string why;
  for (const auto& r : routers_) {
    auto change = r->prepare(running, wanted);
    if (!change) {
      why += (why.empty() ? "" : "\n") + r->name() + ": " + change.error();
      continue;
    }
    changes.push_back(std::move(*change));
    changes_at.push_back(router::plan(running, wanted, node_of(running, *r)).applies());
  }
  std::vector<gateway::Gateway::Keys> keys;
  for (const auto& gateway : gateways_) {
    auto prepared = gateway->prepare_keys(wanted);
    if (prepared) {
      keys.push_back(std::move(*prepared));
    } else {
      why += (why.empty() ? "" : "\n") + prepared.error();
    }
  }
  if (!why.empty()) return tl::unexpected(why);
  auto change = changes.begin();
  for (const auto& r : routers_) {
    r->apply(**change);
    r->apply_routes(**change++);
  }
  for (size_t g = 0; g < gateways_.size(); ++g) {
    gateways_[g]->take_customers(wanted);
    gateways_[g]->take_keys(keys[g]);
  }
  for (size_t r = 0; r < routers_.size(); ++r)
    for (const uint32_t node : worker_nodes_[r])
      if (changes_at[r]) wake(node, now_);
  for (size_t l = 0; l < links_.size(); ++l)
    for (size_t d = 0; d < 2; ++d)
      if (const config::Link* link = named_link(wanted, topology_.links[l].name);
          is_router(topology_, topology_.links[l].ends[d].node) && link != nullptr)
        links_[l].set_rate(
            d, link_options(wanted, static_cast<size_t>(link - wanted.links.data()), d, 1).rate);
  reloaded_ = std::move(next);
  return {};
}

bool World::catch_up(Nanos now) {
  Part& part = *parts_[0];
  part.now = now_ = std::max(now_, now);
  const bool due = part.schedule.next() <= now_;
  while (part.schedule.next() <= now_) poll(part, part.schedule.first());
  return due;
}

void World::stall(uint32_t i, Nanos time) {
  nodes_[i].held_until = now_ + time;
  nodes_[i].held = time;
}

void World::stall_router(size_t i, Nanos time) {
  for (const uint32_t node : worker_nodes_[i]) stall(node, time);
}

void World::stall_hosts(Nanos time) {
  for (const uint32_t node : host_nodes_)
    if (node != kNobody) stall(node, time);
}

}  // namespace turnpike::lab
