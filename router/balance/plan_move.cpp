// SPDX-License-Identifier: BSD-3-Clause
#include "router/balance/plan_move.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace turnpike::router {
namespace {

/// Packets of all ports that an lcore has received.
uint64_t received_by(uint16_t lcore, std::span<const BucketSample> ports) {
  uint64_t sum = 0;
  for (const BucketSample& p : ports)
    for (size_t b = 0; b < p.table.size(); ++b)
      if (p.table[b] == lcore) sum += p.packets[b];
  return sum;
}

/// The buckets of a port that lcore `from` gives: the largest first, as long as they have at most
/// `room` packets together.
std::vector<uint16_t> choose(const BucketSample& port, uint16_t from, double room,
                             const BalanceLimits& limits) {
  std::vector<uint16_t> candidates;
  for (size_t b = 0; b < port.table.size(); ++b)
    if (port.table[b] == from && port.stays[b] == 0 && port.packets[b] > 0)
      candidates.push_back(static_cast<uint16_t>(b));
  std::ranges::stable_sort(candidates, std::greater<>(),
                           [&](uint16_t b) { return port.packets[b]; });
  std::vector<uint16_t> chosen;
  uint64_t sum = 0;
  for (const uint16_t b : candidates) {
    const uint64_t with = sum + port.packets[b];
    if (static_cast<double>(with) > room || with > limits.max_packets) continue;
    sum = with;
    chosen.push_back(b);
    if (chosen.size() == limits.max_buckets) break;
  }
  return chosen;
}

}  // namespace

bool unequal(std::span<const double> busy, const BalanceLimits& limits) {
  const auto [least, most] = std::ranges::minmax_element(busy);
  return *most - *least > limits.band;
}

std::optional<PlannedMove> plan_move(std::span<const double> busy,
                                     std::span<const BucketSample> ports,
                                     const BalanceLimits& limits) {
  std::vector<uint16_t> order(busy.size());
  std::iota(order.begin(), order.end(), uint16_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](uint16_t w) { return busy[w]; });
  const uint16_t to = order.back();
  for (const uint16_t from : order) {
    const double gap = busy[from] - busy[to];
    if (gap <= limits.band) return {};
    const uint64_t received = received_by(from, ports);
    if (received == 0) continue;
    const double per_packet = busy[from] / static_cast<double>(received);
    PlannedMove best;
    for (size_t p = 0; p < ports.size(); ++p) {
      std::vector<uint16_t> buckets = choose(ports[p], from, gap / 2 / per_packet, limits);
      uint64_t packets = 0;
      for (const uint16_t b : buckets) packets += ports[p].packets[b];
      const double load = static_cast<double>(packets) * per_packet;
      if (load > best.load)
        best = {.port = p, .from = from, .to = to, .buckets = std::move(buckets), .load = load};
    }
    if (best.load >= limits.min_gain) return best;
  }
  return {};
}

}  // namespace turnpike::router
