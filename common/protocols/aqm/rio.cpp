// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/aqm/rio.h"

#include <algorithm>

#include "common/protocols/relaxed.h"

namespace turnpike::aqm {
namespace {

RedCurve curve(const ParamValues& params, LinkParam min_th, LinkParam max_th, LinkParam max_p) {
  return {.min_th = params[min_th] * params[kPacket],
          .max_th = std::max(params[min_th], params[max_th]) * params[kPacket],
          .max_p = params[max_p],
          .gentle = params[kRedGentle] != 0};
}

}  // namespace

Rio::Rio(const ParamValues& params, unsigned shards, uint64_t seed)
    : DropTail(params, shards, seed),
      weight_(params[kRedWeight]),
      packet_(params[kPacket]),
      in_(curve(params, kRioInMinTh, kRioInMaxTh, kRioInMaxP)),
      out_(curve(params, kRioOutMinTh, kRioOutMaxTh, kRioOutMaxP)),
      arrivals_(shards),
      in_arrivals_(shards),
      entered_(shards),
      left_(shards) {
  shards_.reserve(shards);
  for (unsigned s = 0; s < shards; ++s) shards_.emplace_back(seed, s);
}

// A packet that a full ring refused after it had entered is never seen to leave; it is no longer
// counted once the whole queue is smaller.
double Rio::in_queue(double queue) const {
  return std::clamp(entered_.all() - left_.all(), 0.0, queue);
}

void Rio::burst(unsigned shard, const LinkState& link, Nanos now) {
  Shard& s = shards_[shard];
  s.rate = link.capacity;
  s.now = now;
  s.in_queue = in_queue(link.queue);
  const double others = arrivals_.fresh(shard), others_in = in_arrivals_.fresh(shard);
  s.all.age(weight_, others, link.queue);
  s.in.age(weight_, others_in, s.in_queue);
  if (others <= 0 && link.queue <= 0 && now > s.empty_at) {
    const double missed = to_seconds(now - s.empty_at) * link.capacity / packet_;
    s.all.age(weight_, missed, 0);
    s.in.age(weight_, missed, 0);
    s.empty_at = now;
  }
  write(average_in_, s.in.average());
  write(average_all_, s.all.average());
}

AqmAction Rio::decide(unsigned shard, const Arrival& a) {
  Shard& s = shards_[shard];
  arrivals_.add(shard, 1);
  s.all.arrival(weight_, a.queue);
  s.empty_at = s.now + from_seconds((a.queue + a.size) / s.rate);
  if (!a.in_profile) return s.all.decide(out_.probability(s.all.average()));
  in_arrivals_.add(shard, 1);
  s.in.arrival(weight_, s.in_queue);
  return s.in.decide(in_.probability(s.in.average()));
}

void Rio::enter(unsigned shard, const Arrival& a) {
  if (!a.in_profile) return;
  shards_[shard].in_queue += a.size;
  entered_.add(shard, a.size);
}

void Rio::leave(unsigned shard, double size, bool in_profile) {
  if (in_profile) left_.add(shard, size);
}

size_t Rio::gauges(std::span<Gauge> out) const {
  const double in = read(average_in_);
  const double every = read(average_all_);
  return write_gauges(out, {{"average_in_kb", in * 1e-3},
                            {"average_all_kb", every * 1e-3},
                            {"mark_probability_in", std::min(1.0, in_.probability(in))},
                            {"mark_probability_out", std::min(1.0, out_.probability(every))}});
}

}  // namespace turnpike::aqm
