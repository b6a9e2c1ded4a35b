// SPDX-License-Identifier: BSD-3-Clause
// For any input every packet is accounted for, and every packet sent is valid.
#include <random>

#include <gtest/gtest.h>

#include "common/units/instrumented.h"
#include "common/wire/bytes.h"
#include "router/datapath/ingress/ip.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

class Hostile {
 public:
  explicit Hostile(uint64_t seed) : random_(seed) {}

  Frame next() {
    switch (random_() % 6) {
      case 0:
        return noise();
      case 1:
        return truncated(real());
      case 2:
        return flipped(real());
      case 3:
        return spliced(real());
      default:
        return real();
    }
  }
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }

 private:
  Frame noise() {
    Frame f(1 + below(200));
    for (uint8_t& b : f) b = static_cast<uint8_t>(random_());
    if (below(2) == 0 && f.size() > 14) {  // far enough to be parsed
      const auto mac = router_mac(kLeft);
      std::copy(mac.begin(), mac.end(), f.begin());
      wire::store_be16(f.data() + 12, below(2) == 0 ? 0x0800 : 0x86dd);
    }
    return f;
  }
  Frame real() {
    const bool six = below(2) == 0;
    switch (below(8)) {
      case 0:
        return plain(static_cast<uint16_t>(48 + below(1453)), six);
      case 1:
        return plain(static_cast<uint16_t>(1501 + below(400)), six);
      case 2:
        return plain(100, six, static_cast<uint16_t>(below(4096)));
      case 3:
        return ethernet(kLeft, 0x0800,
                        ipv4_datagram({.destination = "172.16.5.1"}, bytes(1300 + below(400))));
      case 4:
        return ethernet(kLeft, 0x0800,
                        ipv4_datagram({.destination = "10.0.1.1", .protocol = kIcmp},
                                      icmp(8, 0, 1, bytes(below(500)))));
      case 5:
        return ethernet(kLeft, 0x0800, ipv4_datagram({.ttl = 1}, bytes(below(500))));
      default:
        return fcp({.kind = static_cast<wire::Kind>(1 + below(7)),
                    .balance = 1e-8F,
                    .datagram = static_cast<uint16_t>(100 + below(1400)),
                    .v6 = six});
    }
  }
  Frame truncated(Frame f) {
    f.resize(1 + below(f.size()));
    return f;
  }
  Frame flipped(Frame f) {
    for (size_t n = 1 + below(4); n > 0; --n)
      f[below(std::min<size_t>(f.size(), 110))] ^= static_cast<uint8_t>(1U << below(8));
    return f;
  }
  Frame spliced(Frame f) {
    const Frame other = real();
    const size_t at = below(std::min(f.size(), other.size()));
    std::copy(other.begin(), other.begin() + static_cast<long>(at), f.begin());
    return f;
  }

  std::mt19937_64 random_;
};

TEST(Conservation, HoldsForHostileBurstsOnOneAndTwoWorkers) {
  for (const unsigned workers : {1U, 2U}) {
    Hostile hostile(workers);
    World w(workers);
    uint64_t received = 0;
    for (int round = 0; round < (kInstrumented ? 1000 : 3000); ++round) {
      for (size_t n = hostile.below(40); n > 0; --n, ++received) {
        const size_t segment = hostile.below(4) == 0 ? 1 + hostile.below(300) : 0;
        w.arrive(hostile.below(10) == 0 ? kRight : kLeft, hostile.next(),
                 static_cast<unsigned>(hostile.below(workers)), segment);
      }
      w.poll(w.now + Nanos(static_cast<int64_t>(hostile.below(2'000'000))));
      for (size_t l = 0; l < kLinks; ++l) {
        for (const Frame& f : w.sent(l)) {
          ASSERT_GE(f.size(), 34U);
          const size_t at = wire::load_be16(f.data() + 12) == 0x8100 ? 18 : 14;
          const uint16_t type = wire::load_be16(f.data() + at - 2);
          // A wrong checksum from a hostile sender stays wrong, but every IPv4 header checksum is
          // right.
          if (type == 0x0800) {
            EXPECT_NE(unsound(f), "IPv4 header checksum");
          }
        }
      }
      if (HasFailure()) return;
    }
    const Snapshot s = w.snapshot();
    EXPECT_EQ(s.received, received);
    EXPECT_GT(s.forwarded, received / 8);
    EXPECT_GT(s.dropped(), received / 10);
    EXPECT_GT(s.delivered, 0U);
    EXPECT_GT(s.originated, 0U);
  }
}

TEST(Conservation, SoundTrafficLeavesWithSoundChecksums) {
  World w;
  std::mt19937_64 random(5);
  uint64_t in = 0, out = 0;
  for (int round = 0; round < 500; ++round) {
    for (int i = 0; i < 8; ++i, ++in) {
      const bool six = random() % 2 == 0;
      const auto size = static_cast<uint16_t>(100 + random() % 1400);
      w.arrive(kLeft, random() % 2 == 0 ? plain(size, six)
                                        : fcp({.balance = 1e-8F, .datagram = size, .v6 = six}));
    }
    w.run_until(w.now + 1_ms);
    for (const Frame& f : w.sent(kRight)) {
      ++out;
      ASSERT_EQ(unsound(f), "");
    }
  }
  w.run_until(w.now + 1_s);
  out += w.sent(kRight).size();
  EXPECT_EQ(in, out + w.snapshot().dropped());
}

}  // namespace
}  // namespace turnpike::router::test
