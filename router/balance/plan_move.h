// SPDX-License-Identifier: BSD-3-Clause
// Decides which buckets of the ports' redirection tables move from one lcore to another.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace turnpike::router {

/// A port's table and the packets of a sample. Bucket b was received by lcore table[b].
struct BucketSample {
  std::span<const uint16_t> table;
  std::span<const uint64_t> packets;  // by bucket
  std::span<const uint8_t> stays;     // by bucket: 1: it may not move
};

struct BalanceLimits {
  // Difference between the busy shares of two lcores at which buckets move. Wide against the noise
  // of a sample, and against the little that sharing brings when both have time left.
  double band = 0.15;
  double min_gain = 0.02;   // least share of an lcore's time that is worth a move
  size_t max_buckets = 16;  // of a move
  // Most packets of a move's buckets in the sample: so many come while they are parked.
  uint64_t max_packets = UINT64_MAX;
};

struct PlannedMove {
  size_t port = 0;
  uint16_t from = 0, to = 0;
  std::vector<uint16_t> buckets = {};
  double load = 0;  // share of an lcore's time
};

/// Whether the busy shares of two lcores differ by more than the band.
bool unequal(std::span<const double> busy, const BalanceLimits& limits);

/// `busy`: by lcore, the share of its time in polls that moved packets. A packet is taken to cost
/// its lcore's mean. Buckets move from the busiest lcore that has any to give to the least busy
/// one, and take at most half of the difference with them: the busier of the two is never busier
/// than before, so that a bucket which is most of an lcore's load stays where it is. None: loads
/// are within the band, or no bucket is small enough.
std::optional<PlannedMove> plan_move(std::span<const double> busy,
                                     std::span<const BucketSample> ports,
                                     const BalanceLimits& limits);

}  // namespace turnpike::router
