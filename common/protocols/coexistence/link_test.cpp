// SPDX-License-Identifier: BSD-3-Clause
// Two laws at one link: each sees only its packets, its queue and its share of the capacity.
#include "common/protocols/coexistence/link.h"

#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "common/protocols/qcp/protocol.h"
#include "common/protocols/xcp/protocol.h"
#include "tests/support/gauge.h"

namespace turnpike::coexistence {
namespace {

/// Records its calls; refuses packets of 13 B and drops packets of 14 B.
class Witness final : public LinkLaw {
 public:
  Witness() : LinkLaw({.rewritten = {2, 6}, .marks_or_drops = true, .wants_dequeue = true}) {}

  uint64_t arrive(unsigned, std::span<LinkPacket> burst, const LinkState& link, Nanos) override {
    uint64_t refused = 0;
    for (size_t i = 0; i < burst.size(); ++i) {
      sizes.push_back(burst[i].size);
      if (burst[i].size == 13) refused |= uint64_t{1} << i;
      if (burst[i].size == 14) burst[i].action = AqmAction::kDrop;
    }
    seen = link;
    return refused;
  }
  void depart(unsigned, std::span<LinkPacket> burst, const LinkState&, Nanos) override {
    departed += burst.size();
  }
  Nanos update(const LinkState&, Nanos now) override {
    updates.push_back(now);
    return now + every;
  }
  size_t gauges(std::span<Gauge>) const override { return 0; }

  std::vector<uint32_t> sizes;
  std::vector<Nanos> updates;
  LinkState seen;
  size_t departed = 0;
  Nanos every{0};
};

/// Reads every packet as of a flow with a round trip of 20 ms and the window, in KB, in its first
/// byte.
Told thousands(const uint8_t* header, uint32_t size) {
  const double window = header[0] * 1e3, flow = 0.02 * size / window;
  return {.flow = flow, .flow_window = 0.02 * size, .flow_rtt = 0.02 * flow};
}

constexpr LinkState kLink{
    .capacity = 1e6, .queue = 5000, .buffer = 225e3, .queues = {2000, 3000, 0, 0}};

struct Pair {
  Witness* own = new Witness;
  Witness* tcp = new Witness;
  Link link{std::unique_ptr<LinkLaw>(own), std::unique_ptr<LinkLaw>(tcp), thousands, 0.1, 10, 1};
  Pair() { own->every = 7_ms, tcp->every = 3_ms; }
};

TEST(CoexistenceLink, ShowsEachLawItsPacketsAndItsPartOfTheLink) {
  Pair p;
  uint8_t header[4] = {10};
  std::array<LinkPacket, 5> burst{
      {{.size = 10}, {header, 11}, {header, 13}, {.size = 14}, {.size = 13}}};
  EXPECT_EQ(p.link.arrive(0, burst, kLink, 1_s), 0b10100U);
  EXPECT_EQ(p.own->sizes, (std::vector<uint32_t>{11, 13}));
  EXPECT_EQ(p.tcp->sizes, (std::vector<uint32_t>{10, 14, 13}));
  EXPECT_EQ(burst[3].action, AqmAction::kDrop);
  EXPECT_EQ(burst[1].action, AqmAction::kPass);
  EXPECT_EQ(p.own->seen.queue, 2000);
  EXPECT_EQ(p.tcp->seen.queue, 3000);
  EXPECT_EQ(p.own->seen.capacity, 0.5e6);
  EXPECT_EQ(p.own->seen.buffer, 112.5e3);
  p.link.depart(0, burst, kLink, 1_s);
  EXPECT_EQ(p.own->departed, 2U);
  EXPECT_EQ(p.tcp->departed, 3U);
  EXPECT_EQ(p.link.classify(burst[1]), 0U);
  EXPECT_EQ(p.link.classify(burst[0]), 1U);
  EXPECT_EQ(p.link.traits().rewritten.begin, 2);
}

TEST(CoexistenceLink, CallsEachLawWhenItIsDue) {
  Pair p;
  Nanos now = 1_s;
  for (const Nanos end = now + 21_ms; now < end;) now = p.link.update(kLink, now);
  EXPECT_EQ(p.own->updates, (std::vector<Nanos>{1_s, 1_s + 7_ms, 1_s + 14_ms}));
  ASSERT_EQ(p.tcp->updates.size(), 7U);
  EXPECT_EQ(p.tcp->updates[6], 1_s + 18_ms);
}

TEST(CoexistenceLink, WeighsWhatIsLostAgainstWhatIsNamed) {
  Pair p;
  p.link.update(kLink, 1_s);
  uint8_t header[4] = {10};
  // A hundred of TCP's packets, ten of them lost; the scheme's headers have windows of 10 KB.
  for (int i = 0; i < 100; ++i) {
    std::array<LinkPacket, 2> burst{
        {{header, 1000}, {.size = i < 10 ? 14U : 1000U, .admitted = i % 20 != 19}}};
    p.link.arrive(0, burst, kLink, 1_s);
  }
  p.link.update(kLink, 1_s + 100_ms);
  const double packet = (90 * 1000 + 10 * 14) / 100.0;
  const double loss = (10 + 5) / 100.0 / 10;  // a tenth of the memory is new
  EXPECT_NEAR(gauge(p.link, "tcp_loss"), loss, 1e-12);
  EXPECT_NEAR(gauge(p.link, "own_window_packets"), 10e3 / packet, 1e-9);
  EXPECT_NEAR(gauge(p.link, "tcp_window_packets"), tcp_window(loss), 1e-9);
  const double tcp = packet * tcp_window(loss);
  EXPECT_NEAR(p.link.weight(1), 0.5 + 0.1 * (10e3 - tcp) / (10e3 + tcp), 1e-12);
  EXPECT_NEAR(p.link.weight(0) + p.link.weight(1), 1, 1e-12);
  // The scheme's flows have round trips of 20 ms, and so has the next step. Without them the shares
  // stay.
  const double before = p.link.weight(1);
  p.link.update(kLink, 1_s + 120_ms);
  EXPECT_NEAR(gauge(p.link, "tcp_loss"), loss * 0.9, 1e-12);
  EXPECT_EQ(p.link.weight(1), before);
}

TEST(CoexistenceLink, XcpHasItsShareForItsCapacity) {
  ParamValues params = preset_values(xcp::kProtocol, true, "friendly");
  const auto law = xcp::make_link(params, 1);
  ASSERT_EQ(law->traits().classes, 2U);
  LinkState link{.capacity = 12.5e6, .queue = 0, .buffer = 1e6};
  law->update(link, 1_s);
  const double share = law->weight(0);
  std::array<uint8_t, xcp::kHeaderSize> bytes;
  const auto pass = [&] {
    store(xcp::Header{.rtt_ns = 100'000'000, .flow = 0.005F}, bytes.data());  // window 20 KB
    std::array<LinkPacket, 1> burst{{{bytes.data(), 1000}}};
    law->arrive(0, burst, link, 1_s);
    law->depart(0, burst, link, 1_s);
    return xcp::load(bytes.data()).feedback * 0.1;
  };
  for (int i = 0; i < 100; ++i) pass();
  law->update(link, 1_s + 100_ms);
  // Equations 13 and 14; |phi| > gamma y d, so nothing is shuffled.
  const double phi = 0.4 * (share * 1.25e6 - 100e3);
  EXPECT_NEAR(pass() * 100 / phi, 1, 1e-6) << "a hundred packets in an interval share phi";
}

TEST(CoexistenceLink, QcpHasItsShareForItsCapacity) {
  ParamValues params = preset_values(qcp::kProtocol, true, "friendly");
  params[qcp::kInterval] = 0.1;
  params[qcp::kCount] = static_cast<double>(qcp::Count::kExact);
  const auto law = qcp::make_link(params, 1);
  LinkState link{.capacity = 12.5e6, .queue = 50e3, .buffer = 1e6, .queues = {20e3, 30e3, 0, 0}};
  law->update(link, 1_s);
  const double share = law->weight(0);
  std::array<uint8_t, qcp::kHeaderSize> bytes;
  for (int i = 0; i < 100; ++i) {  // in 0.1 s at 1 MB/s, of flows of 0.25 MB/s: four
    store(qcp::Header{{.rtt_ns = 100'000'000}, 4e-6F}, bytes.data());
    std::array<LinkPacket, 1> burst{{{bytes.data(), 1000}}};
    law->arrive(0, burst, link, 1_s);
  }
  law->update(link, 1_s + 100_ms);
  EXPECT_NEAR(gauge(*law, "flows"), 4, 1e-5);
  EXPECT_NEAR(gauge(*law, "rate_mbps"), (share * 12.5e6 - 20e3 / 0.1) / 4 * 8e-6, 1e-3);
}

TEST(CoexistenceLink, IsNotThereUnlessItIsAskedFor) {
  EXPECT_EQ(xcp::make_link(ParamValues(xcp::kLinkParams), 1)->traits().classes, 1U);
  EXPECT_EQ(qcp::make_link(ParamValues(qcp::kLinkParams), 1)->traits().classes, 1U);
}

}  // namespace
}  // namespace turnpike::coexistence
