// SPDX-License-Identifier: BSD-3-Clause
// A sender whose packets state anything, beside honest flows, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "common/protocols/random.h"
#include "tests/support/fcp_network.h"

namespace turnpike::fcp::testing {

/// Honest flows at one link, which all start at 0 s.
struct Scene {
  std::string_view preset = "turnpike";
  unsigned flows = 4;  // endless, 1 $/s each
  Nanos rtt = 50_ms;
  BitRate rate = 100_Mbps;
  double short_load = 0;  // of the link, of flows of 10 packets that arrive at random
  uint64_t seed = 1;
  Nanos from = 2_s, until = 6_s;  // the vandal's interval
};

/// A packet of the vandal's.
struct Lie {
  Header header;
  uint32_t size = 1500;
  bool opens = false;
};

/// The knowledge of the vandal: that of any sender.
struct Knowledge {
  Nanos now{0};   // since the start of the interval
  uint64_t sent;  // the vandal's packets
  Header honest;  // data header of a flow with a fair share
};

struct Vandal {
  double share = 0;                            // of the packets that the link can carry
  std::function<Lie(const Knowledge&)> lie{};  // the next packet
  Nanos burst{0};  // accumulates packets for that long; 0 s: evenly spaced
};

/// Results of honest flows, during the vandal's interval.
struct Left {
  double long_bytes = 0, first_second = 0;  // delivered by long flows
  double least = 0;                         // of a long flow, B
  double short_bytes = 0;
  double mean_completion = 0, worst_completion = 0;  // of short flows that began then, s
  double booked = 0;                                 // most, B
  uint64_t refused = 0;
  bool sane = true;  // every figure was finite and not negative
};

inline Left watch(const Scene& scene, const Vandal& vandal) {
  constexpr uint32_t kSize = 1500, kSynSize = 84, kShort = 10;
  const double capacity = bytes_per_second(scene.rate);
  ToyNetwork net({.preset = scene.preset, .packet = kSize, .syn = kSynSize, .line = 10 * capacity});
  const size_t link = net.add_link(scene.rate, scene.rtt / 2);
  std::vector<size_t> shorts, longs;
  for (unsigned i = 0; i < scene.flows; ++i)
    longs.push_back(net.add_flow({link}, scene.rtt / 2, Budget(1), Nanos(0)));
  if (scene.short_load > 0) {
    SplitMix64 random(scene.seed);
    const double gap = kShort * kSize / (scene.short_load * capacity);
    for (double t = 0; t < to_seconds(scene.until);) {
      t += -gap * std::log(1 - random.uniform());
      shorts.push_back(
          net.add_flow({link}, scene.rtt / 2, Budget(1), from_seconds(t), kShort * kSize));
    }
  }
  Left left;
  Knowledge knows{};
  std::function<void()> strike = [&] {
    const double price = net.price(link);
    knows.now = net.now() - scene.from;
    knows.honest = {.rtt_ns = rtt_field(scene.rtt),
                    .age_ns = rtt_field(scene.rtt),
                    .balance = static_cast<float>(price),
                    .slot = static_cast<float>(kSize * scene.flows / capacity)};
    const double even = kSize / capacity / vandal.share;
    const double gap = std::max(even, to_seconds(vandal.burst));
    for (auto n = static_cast<int>(gap / even + 0.5); n > 0; --n) {
      const Lie lie = vandal.lie(knows);
      net.inject(link, lie.header, lie.size, lie.opens);
      ++knows.sent;
    }
    for (const auto name : {"price", "demand_mbps", "incoming_budget", "average_rtt_ms"}) {
      const double v = net.figure(link, name);
      if (v < 0 || v > 1e30) left.sane = false;  // NaN: no such gauge
    }
    left.sane &= std::isfinite(net.price(link));
    const double booked = net.figure(link, "booked_bytes");
    left.booked = std::max(left.booked, std::isnan(booked) ? 0 : booked);
    if (net.now() + from_seconds(gap) < scene.until) net.at(net.now() + from_seconds(gap), strike);
  };
  if (vandal.share > 0) net.at(scene.from, strike);
  std::vector<double> before;
  before.reserve(longs.size());
  net.run_until(scene.from);
  for (const size_t i : longs) before.push_back(net.delivered(i));
  double short_before = 0;
  for (const size_t i : shorts) short_before += net.delivered(i);
  net.run_until(scene.from + 1_s);
  for (size_t k = 0; k < longs.size(); ++k)
    left.first_second += net.delivered(longs[k]) - before[k];
  net.run_until(scene.until);
  left.least = 1e300;
  for (size_t k = 0; k < longs.size(); ++k) {
    const double got = net.delivered(longs[k]) - before[k];
    left.long_bytes += got;
    left.least = std::min(left.least, got);
  }
  for (const size_t i : shorts) left.short_bytes += net.delivered(i);
  left.short_bytes -= short_before;
  size_t done = 0;
  for (const size_t i : shorts) {
    const Nanos began = net.started(i);
    if (began < scene.from || began > scene.until - 1_s) continue;
    // A flow that has not ended counts with the time so far.
    const Nanos took = net.completion(i) > Nanos(0) ? net.completion(i) : net.now() - began;
    left.mean_completion += to_seconds(took);
    left.worst_completion = std::max(left.worst_completion, to_seconds(took));
    ++done;
  }
  if (done > 0) left.mean_completion /= static_cast<double>(done);
  left.refused = net.refused();
  return left;
}

}  // namespace turnpike::fcp::testing
