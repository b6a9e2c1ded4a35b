// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/rcp/link.h"

#include <algorithm>
#include <array>

#include "common/protocols/rcp/header.h"

namespace turnpike::rcp {
namespace {

constexpr double kPacket = 1000;  // B, what the least rate counts in

double read(const std::atomic<double>& a) { return a.load(std::memory_order_relaxed); }
void add(std::atomic<double>& a, double v) { a.store(read(a) + v, std::memory_order_relaxed); }

}  // namespace

Link::Link(const ParamValues& params, unsigned shards)
    : alpha_(params[kAlpha]),
      beta_(params[kBeta]),
      target_(params[kTarget]),
      first_rate_(params[kFirstRate]),
      least_rate_(params[kLeastRate]),
      interval_(params[kInterval]),
      average_rtt_(params[kFirstRtt]),
      storage_(std::make_unique<Shard[]>(shards)) {
  shards_ = {storage_.get(), shards};
}

uint64_t Link::arrive(unsigned index, std::span<PricedPacket> burst, const LinkState& link,
                      Nanos /*now*/) {
  const double known = read(rate_);
  const auto rate = static_cast<float>(known > 0 ? known : first_rate_ * target_ * link.capacity);
  Sums sums;
  uint64_t refused = 0;
  for (size_t i = 0; i < burst.size(); ++i) {
    const PricedPacket& p = burst[i];
    sums.bytes += p.size;
    if (p.header == nullptr) continue;
    const Header h = load(p.header);
    if (!credible(h)) {
      refused |= uint64_t{1} << i;
      continue;
    }
    if (h.rtt_ns != 0) {
      sums.rtt_bytes += p.size;
      sums.rtt += h.rtt_ns * 1e-9 * p.size;
    }
    if (p.admitted) wire::store_f32(p.header + kRateOffset, std::min(h.rate, rate));
  }
  Shard& shard = shards_[index];
  add(shard.bytes, sums.bytes);
  add(shard.rtt_bytes, sums.rtt_bytes);
  add(shard.rtt, sums.rtt);
  return refused;
}

Link::Sums Link::sums() const {
  Sums all;
  for (const Shard& s : shards_) {
    all.bytes += read(s.bytes);
    all.rtt_bytes += read(s.rtt_bytes);
    all.rtt += read(s.rtt);
  }
  return all;
}

void Link::average(const Sums& since, double interval, double capacity) {
  if (since.rtt_bytes <= 0) return;
  const double mean = since.rtt / since.rtt_bytes, d = average_rtt_;
  double gain = std::min(interval / d, 1.0);
  if (mean < d) gain *= read(rate_) / capacity * (mean / d);
  average_rtt_ = d + gain * (mean - d);
}

Nanos Link::update(const LinkState& link, Nanos now) {
  const double most = target_ * link.capacity;
  const Sums all = sums();
  if (!started_) {
    started_ = true;
    rate_.store(first_rate_ * most, std::memory_order_relaxed);
  } else if (now > last_) {
    const double interval = to_seconds(now - last_);
    const Sums since{all.bytes - counted_.bytes, all.rtt_bytes - counted_.rtt_bytes,
                     all.rtt - counted_.rtt};
    average(since, interval, link.capacity);
    const double d = average_rtt_;
    const double spare = alpha_ * (most - since.bytes / interval) - beta_ * link.queue / d;
    // An update that comes late speaks for no more than a round trip.
    const double rate = read(rate_) * (1 + std::min(interval / d, 1.0) * spare / most);
    rate_.store(std::clamp(rate, std::min(least_rate_ * kPacket / d, most), most),
                std::memory_order_relaxed);
  }
  counted_ = all;
  last_ = now;
  return now + from_seconds(std::min(average_rtt_, interval_));
}

size_t Link::gauges(std::span<Gauge> out) const {
  const std::array<Gauge, 2> all{
      {{"rate_mbps", read(rate_) * 8e-6}, {"average_rtt_ms", average_rtt_ * 1e3}}};
  const size_t n = std::min(all.size(), out.size());
  std::copy_n(all.begin(), n, out.begin());
  return n;
}

LinkLaw::Rewritten Link::rewritten() const { return {kRateOffset, kRateOffset + sizeof(float)}; }

}  // namespace turnpike::rcp
