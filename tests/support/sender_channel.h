// SPDX-License-Identifier: BSD-3-Clause
// A link for tests that delays, loses, reorders, duplicates and alters packets, on any clock.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <random>

#include <rte_mbuf.h>

#include "common/dpdk/queue_pair.h"
#include "tests/support/eal.h"

namespace turnpike::sender::testing {

struct ChannelOptions {
  Nanos delay = 10_ms;
  double loss = 0, duplication = 0;
  Nanos jitter{0};  // added to the delay, uniformly: more than a packet's gap reorders
  uint64_t seed = 1;
  /// Sees every frame as it is sent from end 0 or 1; false: it is lost.
  std::function<bool(size_t end, std::vector<uint8_t>& frame, Nanos now)> tap = {};
};

/// One thread polls both ends.
class Channel {
 public:
  explicit Channel(ChannelOptions options)
      : options_(std::move(options)), random_(options_.seed), ends_{End(*this, 0), End(*this, 1)} {}
  ~Channel() {
    for (auto& line : lines_) {
      for (auto& [due, m] : line) rte_pktmbuf_free(m);
    }
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  [[nodiscard]] QueuePair& end(size_t i) { return ends_[i]; }

  /// Sends a frame to an end, as if it came from the other one.
  void inject(size_t to, std::span<const uint8_t> frame, Nanos due) {
    lines_[to].emplace(due, turnpike::testing::make_mbuf(frame));
  }

 private:
  class End final : public QueuePair {
   public:
    End(Channel& channel, size_t index) : channel_(channel), index_(index) {}
    uint16_t rx(Nanos now, std::span<rte_mbuf*> out) override {
      auto& line = channel_.lines_[index_];
      uint16_t n = 0;
      while (n < out.size() && !line.empty() && line.begin()->first <= now) {
        out[n++] = line.begin()->second;
        line.erase(line.begin());
      }
      return n;
    }
    uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) override {
      for (rte_mbuf* m : burst) channel_.send(index_, m, now);
      return static_cast<uint16_t>(burst.size());
    }
    [[nodiscard]] Nanos next_deadline() const override {
      const auto& line = channel_.lines_[index_];
      return line.empty() ? kNever : line.begin()->first;
    }

   private:
    Channel& channel_;
    size_t index_;
  };

  bool happens(double probability) {
    return probability > 0 && std::uniform_real_distribution<>(0, 1)(random_) < probability;
  }
  Nanos arrival(Nanos now) {
    Nanos at = now + options_.delay;
    if (options_.jitter.count() > 0) {
      at += Nanos(static_cast<int64_t>(random_() % static_cast<uint64_t>(options_.jitter.count())));
    }
    return at;
  }
  void send(size_t from, rte_mbuf* m, Nanos now) {
    if (options_.tap) {
      auto bytes = turnpike::testing::bytes_of(m);
      const auto before = bytes;
      const bool passes = options_.tap(from, bytes, now);
      if (passes && bytes != before) {
        rte_pktmbuf_free(m);
        m = turnpike::testing::make_mbuf(bytes);
      }
      if (!passes) {
        rte_pktmbuf_free(m);
        return;
      }
    }
    if (happens(options_.loss)) {
      rte_pktmbuf_free(m);
      return;
    }
    if (happens(options_.duplication))
      inject(1 - from, turnpike::testing::bytes_of(m), arrival(now));
    lines_[1 - from].emplace(arrival(now), m);
  }

  ChannelOptions options_;
  std::mt19937_64 random_;
  std::array<std::multimap<Nanos, rte_mbuf*>, 2> lines_;  // [i]: towards end i
  std::array<End, 2> ends_;
};

}  // namespace turnpike::sender::testing
