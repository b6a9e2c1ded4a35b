// SPDX-License-Identifier: BSD-3-Clause
#include "router/telemetry/flow_table.h"

#include <utility>

namespace turnpike::router {

void FlowTable::add(const FlowKey& key, const FlowPackets& more) {
  total_ += more.bytes;
  const auto [known, fresh] = places_.try_emplace(key, heap_.size());
  size_t at = known->second;
  if (fresh && heap_.size() == capacity_) {
    at = known->second = 0;
    const double before = size_of(heap_.front());
    places_.erase(heap_.front().key);
    heap_.front() = FlowCount();
    heap_.front().before = before;
  } else if (fresh) {
    heap_.emplace_back();
  }
  FlowCount& flow = heap_[at];
  flow.key = key;
  flow.packets += more.packets;
  flow.bytes += more.bytes;
  flow.spend += more.spend;
  flow.port = more.port;
  fresh&& at + 1 == heap_.size() ? rise(at) : sink(at);
}

void FlowTable::clear() {
  heap_.clear();
  places_.clear();
  total_ = 0;
}

void FlowTable::exchange(size_t a, size_t b) {
  std::swap(heap_[a], heap_[b]);
  places_[heap_[a].key] = a;
  places_[heap_[b].key] = b;
}

void FlowTable::sink(size_t at) {
  for (;;) {
    size_t least = at;
    for (const size_t child : {2 * at + 1, 2 * at + 2})
      if (child < heap_.size() && size_of(heap_[child]) < size_of(heap_[least])) least = child;
    if (least == at) return;
    exchange(at, least);
    at = least;
  }
}

void FlowTable::rise(size_t at) {
  for (; at > 0 && size_of(heap_[at]) < size_of(heap_[(at - 1) / 2]); at = (at - 1) / 2)
    exchange(at, (at - 1) / 2);
}

}  // namespace turnpike::router
