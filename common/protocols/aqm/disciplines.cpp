// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/aqm/disciplines.h"

#include <algorithm>
#include <cmath>

#include "common/protocols/relaxed.h"

namespace turnpike::aqm {

Red::Red(const ParamValues& params, unsigned shards, uint64_t seed)
    : DropTail(params, shards, seed),
      weight_(params[kRedWeight]),
      packet_(params[kPacket]),
      min_th_(params[kRedMinTh]),
      max_th_(std::max(params[kRedMinTh], params[kRedMaxTh])),
      curve_{.max_p = params[kRedMaxP], .gentle = params[kRedGentle] != 0},
      arrivals_(shards) {
  shards_.reserve(shards);
  for (unsigned s = 0; s < shards; ++s) shards_.emplace_back(SplitMix64(seed, s));
}

void Red::burst(unsigned shard, const LinkState& link, Nanos now) {
  Shard& s = shards_[shard];
  s.curve = curve_;
  s.curve.min_th = min_th_ * link.buffer;
  s.curve.max_th = max_th_ * link.buffer;
  s.rate = link.capacity;
  s.now = now;
  if (const double others = arrivals_.fresh(shard); others > 0) {
    s.red.age(weight_, others, link.queue);
  } else if (link.queue <= 0 && now > s.empty_at) {
    // Packets that could have gone while the queue was empty count as having found it so.
    s.red.age(weight_, to_seconds(now - s.empty_at) * link.capacity / packet_, 0);
    s.empty_at = now;
  }
  write(average_, s.red.average());
  write(probability_, std::min(1.0, s.curve.probability(s.red.average())));
}

AqmAction Red::decide(unsigned shard, const Arrival& a) {
  Shard& s = shards_[shard];
  arrivals_.add(shard, 1);
  s.red.arrival(weight_, a.queue);
  s.empty_at = s.now + from_seconds((a.queue + a.size) / s.rate);
  return s.red.decide(s.curve.probability(s.red.average()));
}

size_t Red::gauges(std::span<Gauge> out) const {
  return write_gauges(
      out, {{"average_queue_kb", read(average_) * 1e-3}, {"mark_probability", read(probability_)}});
}

Rem::Rem(const ParamValues& params, unsigned shards, uint64_t seed)
    : DropTail(params, shards, seed),
      gamma_(params[kRemGamma]),
      phi_(params[kRemPhi]),
      queue_gain_(params[kRemQueueGain]),
      target_(params[kRemTarget]),
      packet_(params[kPacket]),
      sums_(shards) {
  dice_.reserve(shards);
  for (unsigned s = 0; s < shards; ++s) dice_.emplace_back(SplitMix64(seed, s));
}

AqmAction Rem::decide(unsigned shard, const Arrival& a) {
  sums_.add(shard, {a.size});
  const double p = read(probability_);
  return p > 0 && dice_[shard].random.uniform() < p ? AqmAction::kSignal : AqmAction::kPass;
}

Nanos Rem::update(const LinkState& link, Nanos now) {
  const double in = sums_.take()[0];
  if (begun_) {
    const double carried = link.capacity * to_seconds(now - last_);
    const double excess = in - carried + queue_gain_ * (link.queue - target_ * link.buffer);
    write(price_, std::max(0.0, read(price_) + gamma_ * excess / packet_));
    write(probability_, 1 - std::pow(phi_, -read(price_)));
  }
  begun_ = true;
  last_ = now;
  return now + from_seconds(10 * packet_ / link.capacity);
}

size_t Rem::gauges(std::span<Gauge> out) const {
  return write_gauges(out,
                      {{"marking_price", read(price_)}, {"mark_probability", read(probability_)}});
}

}  // namespace turnpike::aqm
