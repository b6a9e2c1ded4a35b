// SPDX-License-Identifier: BSD-3-Clause
#include "lab/exactness/shadow_link.h"

#include <algorithm>
#include <array>

namespace turnpike::lab {

uint64_t ShadowLink::arrive(unsigned shard, std::span<LinkPacket> burst, const LinkState& link,
                            Nanos now) {
  exact_.take(burst, link, now);
  const uint64_t refused = real_->arrive(shard, burst, link, now);
  std::array<Gauge, kMaxGauges> gauges;
  real_->gauges(gauges);
  const double price = gauges[0].value;
  if (!burst.empty()) {
    worst_ = std::max(worst_, exact_.difference(price));
    ++compared_;
  }
  exact_.set(now, price, !burst.empty());
  return refused;
}

size_t ShadowLink::gauges(std::span<Gauge> out) const {
  size_t n = real_->gauges(out);
  for (const Gauge& g : {Gauge{kWorst, worst_}, Gauge{kCompared, static_cast<double>(compared_)}})
    if (n < out.size()) out[n++] = g;
  return n;
}

}  // namespace turnpike::lab
