// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/punt/punt_path.h"

#include <algorithm>

namespace turnpike::router {

std::unique_ptr<PuntPath> PuntPath::make(const config::LinuxControl& control, size_t links,
                                         unsigned workers, int socket) {
  constexpr double kBurst_s = 0.1, kMinBurst = 32;
  PuntShard::Buckets full;
  for (size_t k = 0; k < kPuntClasses; ++k)
    full[k] = TokenBucket(control.rates[k], std::max(control.rates[k] * kBurst_s, kMinBurst));

  std::unique_ptr<PuntPath> path(new PuntPath);
  path->punts_ttl_ = control.punt_ttl;
  path->refused_ = std::vector<metrics::Counter>(links);
  for (unsigned w = 0; w < workers; ++w) {
    auto shard = std::make_unique<PuntShard>();
    shard->buckets.assign(links, full);
    shard->to_linux = PacketRing::make(socket);
    shard->from_linux = PacketRing::make(socket);
    shard->waiting = NeighbourQueue::make(socket);
    if (!shard->to_linux || !shard->from_linux || !shard->waiting) return nullptr;
    path->shards_.push_back(std::move(shard));
  }
  path->set_groups({.links = std::vector<JoinedGroups::OnLink>(links)});
  return path;
}

void PuntPath::set_groups(JoinedGroups groups) {
  groups.version = owned_.empty() ? 1 : owned_.back()->version + 1;
  owned_.push_back(std::make_unique<const JoinedGroups>(std::move(groups)));
  groups_.store(owned_.back().get(), std::memory_order_release);
  // A worker may have loaded a set and not yet stored its version: a set is unused only once every
  // worker has stored a later one.
  uint64_t oldest = owned_.back()->version;
  for (const auto& shard : shards_)
    oldest = std::min(oldest, shard->groups_version.load(std::memory_order_acquire));
  std::erase_if(owned_, [&](const auto& set) { return set->version < oldest; });
}

uint64_t PuntPath::held() const {
  const uint64_t taken = taken_.read();  // first, so that a packet in between counts as held
  uint64_t punted = 0;
  for (const auto& shard : shards_)
    for (const metrics::Counter& c : shard->punted) punted += c.read();
  return punted - taken;
}

uint64_t PuntPath::waiting() const {
  uint64_t n = 0;
  for (const auto& shard : shards_) n += shard->waiting->waiting();
  return n;
}

}  // namespace turnpike::router
