// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/explicit_rate/link.h"

#include <algorithm>
#include <array>

#include "common/protocols/explicit_rate/header.h"

namespace turnpike::explicit_rate {

uint64_t Link::arrive(unsigned index, std::span<PricedPacket> burst, const LinkState& link,
                      Nanos /*now*/) {
  const double known = rate();
  const auto least = static_cast<float>(known > 0 ? known : first_share_ * link.capacity);
  ShardSums<kFields>::Values sums{};
  uint64_t refused = 0;
  for (size_t i = 0; i < burst.size(); ++i) {
    const PricedPacket& p = burst[i];
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
    if (p.admitted) wire::store_f32(p.header + kRateOffset, std::min(h.rate, least));
  }
  sums_.add(index, sums);
  return refused;
}

Nanos Link::update(const LinkState& link, Nanos now) {
  const auto sums = sums_.take();
  double next = first_share_ * link.capacity;
  if (rate() > 0 && now > last_) {
    const double rtt = sums[kRttBytes] > 0 ? sums[kRtt] / sums[kRttBytes] : 0;
    next = rate_after({to_seconds(now - last_), sums[kBytes], sums[kDropped], rtt}, link);
  }
  rate_.store(next, std::memory_order_relaxed);
  last_ = now;
  return now + from_seconds(period());
}

size_t Link::gauges(std::span<Gauge> out) const {
  const std::array<Gauge, 3> all{{{"rate_mbps", rate() * 8e-6},
                                  {"average_rtt_ms", average_rtt() * 1e3},
                                  {"flows", flows_.load(std::memory_order_relaxed)}}};
  const size_t n = std::min(all.size(), out.size());
  std::copy_n(all.begin(), n, out.begin());
  return n;
}

LinkLaw::Rewritten Link::rewritten() const { return {kRateOffset, kRateOffset + sizeof(float)}; }

}  // namespace turnpike::explicit_rate
