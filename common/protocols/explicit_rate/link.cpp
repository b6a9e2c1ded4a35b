// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/explicit_rate/link.h"

#include <algorithm>

#include "common/protocols/explicit_rate/header.h"

namespace turnpike::explicit_rate {

uint64_t Link::arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                      Nanos /*now*/) {
  const double known = rate() > 0 ? rate() : first_share_ * link.capacity;
  const double flows = flows_.load(std::memory_order_relaxed);
  double least = newcomers_.lowered(known, flows);
  ShardSums<kFields>::Values sums{};
  uint64_t refused = 0;
  for (size_t i = 0; i < burst.size(); ++i) {
    const LinkPacket& p = burst[i];
    sums[kBytes] += p.size;
    if (!p.admitted) sums[kDropped] += p.size;
    if (p.header == nullptr) continue;
    const Header h = load(p.header);
    if (!credible(h)) {
      refused |= uint64_t{1} << i;
      continue;
    }
    if (h.rtt_ns != 0) {
      sums[kRttBytes] += p.size;
      sums[kRtt] += h.rtt_ns * 1e-9 * p.size;
    }
    if (!p.admitted) continue;
    const double share = p.opens ? newcomers_.admit(index, least, link.capacity) : least;
    if (p.opens) least = newcomers_.lowered(known, flows);
    wire::store_f32(p.header + kRateOffset, std::min(h.rate, static_cast<float>(share)));
  }
  sums_.add(index, sums);
  return refused;
}

Nanos Link::update(const LinkState& link, Nanos now) {
  if (sums_.since_taken(kRttBytes) == 0 && newcomers_.wait(to_seconds(now - last_)))
    return now + from_seconds(period());
  const auto sums = sums_.take();
  double next = first_share_ * link.capacity;
  if (rate() > 0 && now > last_) {
    const double rtt = sums[kRttBytes] > 0 ? sums[kRtt] / sums[kRttBytes] : 0;
    const double length = to_seconds(now - last_);
    const double last = newcomers_.lowered(rate(), flows_.load(std::memory_order_relaxed));
    const auto held = newcomers_.update(length, sums[kBytes]);
    next = rate_after({length, sums[kBytes], sums[kDropped], rtt, held, last}, link);
  }
  rate_.store(next, std::memory_order_relaxed);
  last_ = now;
  return now + from_seconds(period());
}

size_t Link::gauges(std::span<Gauge> out) const {
  return write_gauges(out, {{"rate_mbps", rate() * 8e-6},
                            {"average_rtt_ms", average_rtt() * 1e3},
                            {"flows", flows_.load(std::memory_order_relaxed)}});
}

}  // namespace turnpike::explicit_rate
