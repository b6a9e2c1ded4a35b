// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/multicast/tree_state.h"

#include <algorithm>
#include <bit>

namespace turnpike::router {

TreeState::TreeState(const TreeEntry& tree, unsigned workers) : logs_(tree.children.size()) {
  for (unsigned w = 0; w < workers; ++w) prices_.push_back(std::make_unique<PriceLog>());
  // A flow that ends leaves its place to the next one: twice the places that the file's flows take.
  const size_t places = std::bit_ceil(std::max<size_t>(2 * tree.flows, kWays));
  flows_.assign(places, TreeFlow(tree.children.size()));
}

std::optional<float> TreeState::find_price(const RequestId& id) const {
  for (const auto& log : prices_)
    if (const auto price = log->find(id)) return price;
  return {};
}

std::span<TreeFlow> TreeState::set_of(uint32_t flow) {
  const size_t sets = flows_.size() / kWays;
  const size_t set = (flow * 2654435761U >> 8) % sets;
  return std::span(flows_).subspan(set * kWays, kWays);
}

TreeFlow* TreeState::find(uint32_t flow) {
  for (TreeFlow& f : set_of(flow))
    if (f.used() && f.flow() == flow) return &f;
  return nullptr;
}

TreeFlow* TreeState::begin(uint32_t flow, Nanos now) {
  const auto free_since = [](const TreeFlow& f) {
    return f.used() ? f.last_report() + (f.finished() ? 0_ns : kForgotten) : Nanos(INT64_MIN);
  };
  TreeFlow& place = *std::ranges::min_element(set_of(flow), {}, free_since);
  if (free_since(place) > now) return nullptr;
  place.begin(flow, now);
  return &place;
}

std::unique_ptr<MulticastState> MulticastState::make(const Tables& tables, unsigned workers,
                                                     int socket) {
  auto state = std::make_unique<MulticastState>();
  for (const TreeEntry& tree : tables.trees()) state->trees_.emplace_back(tree, workers);
  state->rings_.resize(workers);
  for (unsigned w = 0; w < workers; ++w) {
    if (w == kOwner) continue;
    state->rings_[w] = AnswerRing::make(socket);
    if (!state->rings_[w]) return nullptr;
  }
  return state;
}

}  // namespace turnpike::router
