// SPDX-License-Identifier: BSD-3-Clause
// Classes of packets against their specification, and classes that the law changes.
#include "router/datapath/link/classify.h"

#include <random>

#include <gtest/gtest.h>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "tests/support/eal.h"
#include "tests/support/router_world.h"
#include "tests/support/scripted_law.h"

namespace turnpike::router::test {
namespace {

/// A router whose right link has these classes. The last one is added: it has no conditions.
World classed(const std::vector<config::ClassMatch>& matches,
              const std::vector<Bytes>& buffers = {}) {
  ScriptedLaw::script = {.weights = std::vector<double>(matches.size() + 1, 1)};
  config::Topology t = topology();
  auto& classes = t.links[kRight].directions[0].classes;
  for (const auto& m : matches) classes.push_back({.match = m});
  classes.emplace_back();
  for (size_t c = 0; c < buffers.size(); ++c) classes[c].buffer = buffers[c];
  RouterOptions options;
  options.find = ScriptedLaw::find;
  return World(1, t, options);
}

/// The class of the last packet that the law saw.
unsigned seen_class() {
  EXPECT_EQ(ScriptedLaw::law->seen.size(), 1U);
  return ScriptedLaw::law->seen.at(0).queue_class;
}
unsigned class_of(World& w, const Frame& frame) {
  w.arrive(kLeft, frame);
  w.poll(w.now);
  return seen_class();
}

constexpr size_t kIpAt = 14;  // offset of the IP header

Frame with_dscp(Frame frame, unsigned dscp) {
  if (frame[kIpAt] >> 4 == 6) {
    frame[kIpAt] = static_cast<uint8_t>(0x60 | dscp >> 2);
    frame[kIpAt + 1] = static_cast<uint8_t>((dscp & 3) << 6 | (frame[kIpAt + 1] & 0x3f));
    return frame;
  }
  frame[kIpAt + 1] = static_cast<uint8_t>(dscp << 2 | 1);  // ECT(1) must not matter
  wire::store_be16(frame.data() + kIpAt + 10, 0);
  const uint16_t sum = wire::sum_words({frame.data() + kIpAt, 20});
  wire::store_be16(frame.data() + kIpAt + 10, static_cast<uint16_t>(~sum));
  return frame;
}

TEST(Classify, EachConditionAlone) {
  const auto v4_prefix = [](std::string_view address, uint8_t length) {
    return std::variant<config::Ipv4Prefix, config::Ipv6Prefix>(
        config::Ipv4Prefix{ipv4(address), length});
  };
  const auto v6_prefix = [](std::string_view address, uint8_t length) {
    return std::variant<config::Ipv4Prefix, config::Ipv6Prefix>(
        config::Ipv6Prefix{ipv6(address), length});
  };
  World w = classed({{.dscp = {46, 0x2a}},
                     {.protocol = {6}},
                     {.source = {v4_prefix("10.9.1.77", 24), v6_prefix("fd00:9:ffff::1", 32)}},
                     {.destination = {v4_prefix("172.16.128.0", 17), v6_prefix("fd01::8:0", 109)}},
                     {.port = {53}},
                     {.unpriced = false}});
  const Frame udp12 = udp(1, 2, bytes(30));
  EXPECT_EQ(class_of(w, v4({})), 6U);
  EXPECT_EQ(class_of(w, with_dscp(v4({}), 46)), 0U);
  EXPECT_EQ(class_of(w, with_dscp(v4({}), 0x2a)), 0U);
  EXPECT_EQ(class_of(w, with_dscp(v4({}), 45)), 6U);
  EXPECT_EQ(class_of(w, with_dscp(v6({}), 46)), 0U);
  EXPECT_EQ(class_of(w, with_dscp(v6({}), 47)), 6U);
  EXPECT_EQ(class_of(w, v4({.protocol = 6})), 1U);
  EXPECT_EQ(class_of(w, v6({.next = 6})), 1U);
  EXPECT_EQ(class_of(w, v4({.source = "10.9.1.2"})), 2U);
  EXPECT_EQ(class_of(w, v4({.source = "10.9.2.2"})), 6U);
  EXPECT_EQ(class_of(w, v6({.source = "fd00:9::5"})), 2U);
  EXPECT_EQ(class_of(w, v6({.source = "fd00:a::5"})), 6U);
  EXPECT_EQ(class_of(w, v4({.destination = "172.16.200.1"})), 3U);
  EXPECT_EQ(class_of(w, v4({.destination = "172.16.100.1"})), 6U);
  EXPECT_EQ(class_of(w, v6({.destination = "fd01::f:1"})), 3U);
  EXPECT_EQ(class_of(w, v6({.destination = "fd01::10:1"})), 6U);
  EXPECT_EQ(class_of(w, v4({}, udp(53, 2, bytes(9)))), 4U);
  EXPECT_EQ(class_of(w, v4({}, udp(1, 53, bytes(9)))), 4U);
  EXPECT_EQ(class_of(w, v4({.protocol = 132}, udp(1, 53, bytes(9)))), 6U) << "not UDP's port";
  EXPECT_EQ(class_of(w, v4({.fragment = 0x0010}, udp(1, 53, bytes(9)))), 6U) << "no port in it";
  EXPECT_EQ(class_of(w, fcp({})), 5U);
}

// Every combination of conditions, in random order and number, against their definition.
TEST(Classify, TheFirstClassWhoseConditionsHoldTakesThePacket) {
  std::mt19937 random(1);
  const std::vector<unsigned> dscps{0, 10, 46}, protocols{6, 17, 50};
  const std::vector<std::string_view> sources{"10.0.1.2", "10.0.1.200", "10.7.0.1"};
  for (int round = 0; round < 60; ++round) {
    std::vector<config::ClassMatch> matches(1 + random() % 6);
    for (auto& m : matches) {
      if (random() % 2 == 0) m.dscp = {dscps[random() % 3], dscps[random() % 3]};
      if (random() % 3 == 0) m.protocol = {protocols[random() % 3]};
      if (random() % 3 == 0) m.port = {static_cast<unsigned>(1 + random() % 3)};
      if (random() % 3 == 0)
        m.source = {
            config::Ipv4Prefix{ipv4(sources[random() % 3]), static_cast<uint8_t>(random() % 33)}};
      if (random() % 4 == 0) m.unpriced = random() % 2 == 0;
    }
    World w = classed(matches);
    for (int i = 0; i < 40; ++i) {
      const bool priced = random() % 4 == 0;
      const auto source = sources[random() % 3];
      const unsigned protocol = priced ? 17 : protocols[random() % 3], dscp = dscps[random() % 3];
      const auto from = static_cast<uint16_t>(1 + random() % 4),
                 to = static_cast<uint16_t>(1 + random() % 4);
      const Frame frame =
          with_dscp(priced ? fcp({.source = source})
                           : v4({.source = source, .protocol = static_cast<uint8_t>(protocol)},
                                udp(from, to, bytes(20))),
                    dscp);
      unsigned expected = 0;
      for (; expected < matches.size(); ++expected) {
        const auto& m = matches[expected];
        const auto lists = [](const auto& all, unsigned v) {
          return all.empty() || std::ranges::find(all, v) != all.end();
        };
        if (!lists(m.dscp, dscp) || !lists(m.protocol, protocol)) continue;
        const bool udp = protocol == 17 && !priced;
        if (!m.port.empty() && !(udp && (lists(m.port, from) || lists(m.port, to)))) continue;
        if (m.unpriced && *m.unpriced == priced) continue;
        if (!m.source.empty()) {
          const auto& prefix = std::get<config::Ipv4Prefix>(m.source[0]);
          const uint64_t span = uint64_t{1} << (32 - prefix.length);
          if (ipv4(source) / span != prefix.address / span) continue;
        }
        break;
      }
      ASSERT_EQ(class_of(w, frame), expected) << "round " << round << " packet " << i;
    }
  }
}

TEST(Classify, ConditionsOfAnOuterClassHoldToo) {
  ScriptedLaw::script = {.weights = std::vector<double>(5, 1)};
  config::Topology t = topology();
  const config::ClassMatch outer{.port = {53},
                                 .source = {config::Ipv4Prefix{ipv4("10.9.0.0"), 16}}};
  auto& classes = t.links[kRight].directions[0].classes;
  classes.push_back({.match = {.dscp = {46}}, .parent_match = {.dscp = {46, 10}}});
  classes.push_back({.parent_match = {.dscp = {46, 10}, .protocol = {6}}});
  classes.push_back({.match = {.port = {54}}, .parent_match = outer});
  classes.push_back({.parent_match = outer});
  classes.emplace_back();
  RouterOptions options;
  options.find = ScriptedLaw::find;
  World w(1, t, options);
  EXPECT_EQ(class_of(w, with_dscp(v4({}), 46)), 0U);
  EXPECT_EQ(class_of(w, with_dscp(v4({}), 10)), 4U);
  EXPECT_EQ(class_of(w, with_dscp(v4({.protocol = 6}), 10)), 1U);
  EXPECT_EQ(class_of(w, v4({.source = "10.9.1.2"}, udp(53, 54, bytes(9)))), 2U);
  EXPECT_EQ(class_of(w, v4({.source = "10.9.1.2"}, udp(53, 2, bytes(9)))), 3U);
  EXPECT_EQ(class_of(w, v4({.source = "10.9.1.2"}, udp(54, 2, bytes(9)))), 4U);
  EXPECT_EQ(class_of(w, v4({.source = "10.8.1.2"}, udp(53, 54, bytes(9)))), 4U);
}

TEST(Classify, EachClassHasItsBuffer) {
  World w = classed({{.dscp = {46}}}, {Bytes(5000)});
  for (int i = 0; i < 20; ++i) w.arrive(kLeft, with_dscp(plain(1000), 46));
  for (int i = 0; i < 20; ++i) w.arrive(kLeft, plain(1000));
  w.poll(w.now);
  EXPECT_EQ(w.drops(DropReason::kQueueFull), 15U);
}

}  // namespace
}  // namespace turnpike::router::test
