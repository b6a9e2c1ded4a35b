// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/aqm/avq.h"

#include <algorithm>

namespace turnpike::aqm {

Avq::Avq(const ParamValues& params, unsigned shards, uint64_t seed)
    : DropTail(params, shards, seed),
      damping_(params[kAvqDamping]),
      utilization_(params[kAvqUtilization]),
      offered_(shards),
      entered_(shards),
      shards_(shards) {}

void Avq::burst(unsigned shard, const LinkState& link, Nanos now) {
  Shard& own = shards_[shard];
  own.buffer = link.buffer;
  auto v = own.own;
  for (const Shard& s : shards_)
    if (const auto other = s.view.load(); other && (*other)[kAt] > v[kAt]) v = *other;
  if (v[kAt] == 0) {
    v[kCapacity] = utilization_ * link.capacity;
    v[kAt] = static_cast<double>(now.count());
  }
  // Others may have stored a view that is a little ahead of this lcore's time.
  const double elapsed = std::max(0.0, (static_cast<double>(now.count()) - v[kAt]) * 1e-9);
  const double offered = offered_.all(), entered = entered_.all();
  v[kQueue] =
      std::max(0.0, v[kQueue] - v[kCapacity] * elapsed) + std::max(0.0, entered - v[kEntered]);
  v[kCapacity] =
      std::min(v[kCapacity] + damping_ * utilization_ * link.capacity * elapsed, link.capacity) -
      damping_ * std::max(0.0, offered - v[kOffered]);
  v[kCapacity] = std::max(0.0, v[kCapacity]);
  v[kAt] = std::max(v[kAt], static_cast<double>(now.count()));
  v[kOffered] = std::max(v[kOffered], offered);
  v[kEntered] = std::max(v[kEntered], entered);
  own.own = v;
  own.view.store(v);
}

AqmAction Avq::decide(unsigned shard, const Arrival& a) {
  Shard& own = shards_[shard];
  auto& v = own.own;
  const bool full = v[kQueue] + a.size > own.buffer;
  v[kCapacity] = std::max(0.0, v[kCapacity] - damping_ * a.size);
  v[kOffered] += a.size;
  offered_.add(shard, a.size);
  if (!full) {
    v[kQueue] += a.size;
    v[kEntered] += a.size;
    entered_.add(shard, a.size);
  }
  own.view.store(v);
  return full ? AqmAction::kSignal : AqmAction::kPass;
}

size_t Avq::gauges(std::span<Gauge> out) const {
  SharedView<kFigures>::Values latest{};
  for (const Shard& s : shards_)
    if (const auto v = s.view.load(); v && (*v)[kAt] >= latest[kAt]) latest = *v;
  return write_gauges(out, {{"virtual_capacity_mbps", latest[kCapacity] * 8e-6},
                            {"virtual_queue_kb", latest[kQueue] * 1e-3}});
}

}  // namespace turnpike::aqm
