// SPDX-License-Identifier: BSD-3-Clause
// Flows of frames, and the largest flows of streams with more flows than a table holds.
#include "router/telemetry/flow_table.h"

#include <map>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "common/wire/bytes.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::router {
namespace {

FlowKey flow(uint32_t n) {
  return {.source = config::Ipv4(n), .destination = config::Ipv4(1), .protocol = 17};
}

TEST(FlowTable, CountsExactlyWhileThereIsRoom) {
  FlowTable table(8);
  for (uint32_t i = 0; i < 100; ++i)
    table.add(flow(i % 8), {.packets = 1, .bytes = 100, .spend = 0.5, .port = 3});
  ASSERT_EQ(table.flows().size(), 8U);
  for (const FlowCount& f : table.flows()) {
    EXPECT_NEAR(f.packets, 12.5, 0.5);
    EXPECT_EQ(f.bytes, 100 * f.packets);
    EXPECT_EQ(f.spend, f.packets / 2);
    EXPECT_EQ(f.before, 0);
    EXPECT_EQ(f.port, 3);
  }
  EXPECT_EQ(table.total(), 10'000);
  table.clear();
  EXPECT_TRUE(table.flows().empty());
  EXPECT_EQ(table.total(), 0);
}

// The bounds of Space-Saving, for skewed streams in random order.
TEST(FlowTable, HoldsEveryLargeFlow) {
  constexpr size_t kCapacity = 64;
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    FlowTable table(kCapacity);
    std::map<uint32_t, double> exact;
    std::geometric_distribution<uint32_t> popular(0.05);
    std::uniform_int_distribution<uint32_t> rare(1000, 100'000), size(64, 1514);
    for (int i = 0; i < 20'000; ++i) {
      const uint32_t n = i % 2 == 0 ? popular(random) : rare(random);
      const double bytes = size(random);
      exact[n] += bytes;
      table.add(flow(n), {.packets = 1, .bytes = bytes});
    }
    std::map<uint32_t, FlowCount> held;
    for (const FlowCount& f : table.flows()) held[std::get<config::Ipv4>(f.key.source)] = f;
    ASSERT_EQ(held.size(), kCapacity);
    const double least = table.total() / kCapacity;
    for (const auto& [n, bytes] : exact) {
      EXPECT_TRUE(bytes <= least || held.contains(n)) << n << " with " << bytes << " B";
    }
    for (const auto& [n, f] : held) {
      EXPECT_LE(f.bytes, exact[n]);
      EXPECT_GE(f.bytes + f.before, exact[n]);
      EXPECT_LE(f.before, least);
    }
  }
}

std::vector<uint8_t> ipv4_frame(uint8_t protocol, uint16_t destination_port) {
  std::vector<uint8_t> frame(14 + 20 + 8 + 60);
  wire::store_be16(&frame[12], 0x0800);
  uint8_t* ip = &frame[14];
  ip[0] = 0x45;
  ip[9] = protocol;
  wire::store_be32(ip + 12, 0x0a000001);
  wire::store_be32(ip + 16, 0x0a000302);
  wire::store_be16(ip + 20, 49152);
  wire::store_be16(ip + 22, destination_port);
  const wire::Header header{.kind = wire::Kind::kData, .length = wire::header_length(32, 0)};
  wire::encode(header, ip + 28);
  return frame;
}

TEST(FlowKey, IsTheFiveTuple) {
  const auto found = flow_of(ipv4_frame(17, 4747), 4747);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, (FlowKey{.source = config::Ipv4(0x0a000001),
                                 .destination = config::Ipv4(0x0a000302),
                                 .source_port = 49152,
                                 .destination_port = 4747,
                                 .protocol = 17}));
  EXPECT_TRUE(found->pays);
  EXPECT_FALSE(flow_of(ipv4_frame(17, 4748), 4747)->pays);
  EXPECT_FALSE(flow_of(ipv4_frame(6, 4747), 4747)->pays);
  EXPECT_EQ(flow_of(ipv4_frame(1, 4747), 4747)->key.destination_port, 0);
}

TEST(FlowKey, ReadsTagsAndIpv6) {
  std::vector<uint8_t> tagged = ipv4_frame(6, 80);
  tagged.insert(tagged.begin() + 12, {0x81, 0x00, 0x00, 0x05});
  EXPECT_EQ(flow_of(tagged, 4747)->key, flow_of(ipv4_frame(6, 80), 4747)->key);
  std::vector<uint8_t> frame(14 + 40 + 8);
  wire::store_be16(&frame[12], 0x86dd);
  frame[14] = 0x60;
  frame[14 + 6] = 17;
  frame[14 + 8 + 15] = 1;
  frame[14 + 24 + 15] = 2;
  wire::store_be16(&frame[14 + 42], 53);
  const auto found = flow_of(frame, 4747);
  ASSERT_TRUE(found);
  EXPECT_EQ(std::get<config::Ipv6>(found->key.destination)[15], 2);
  EXPECT_EQ(found->key.destination_port, 53);
}

TEST(FlowKey, ReadsNothingBeyondTheFrame) {
  const std::vector<uint8_t> whole = ipv4_frame(17, 4747);
  for (size_t n = 0; n < whole.size(); ++n) {
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    const auto found = flow_of(cut, 4747);  // the sanitizers look
    EXPECT_EQ(found.has_value(), n >= 34) << n;
    EXPECT_EQ(found && found->pays, n >= 98) << n;
  }
  std::vector<uint8_t> later = whole;
  later[14 + 7] = 1;  // a later fragment
  EXPECT_EQ(flow_of(later, 4747)->key.source_port, 0);
  std::mt19937 random(1);
  for (int i = 0; i < 10'000; ++i) {
    std::vector<uint8_t> noise(random() % 80);
    for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random());
    if (noise.size() > 14 && i % 2 == 0) wire::store_be16(&noise[12], i % 4 == 0 ? 0x0800 : 0x86dd);
    (void)flow_of(noise, 4747);
  }
}

}  // namespace
}  // namespace turnpike::router
