// SPDX-License-Identifier: BSD-3-Clause
// Valid and invalid trials, from summaries written by hand.
#include "lab/throughput/trial.h"

#include <gtest/gtest.h>

namespace turnpike::lab {
namespace {

using nlohmann::json;

json stream(uint64_t offered, uint64_t sent, uint64_t received) {
  return {{"offered_packets", offered},   {"sent_packets", sent},
          {"received_packets", received}, {"offered_pps", 1e6},
          {"achieved_l1_mbps", 672.0},    {"latency_us", {{"p50", 3.0}, {"max", 90.0}}}};
}
json summary(const json& s) { return {{"streams", {{"load", s}}}}; }

TEST(Trial, LossIsOfWhatWasDue) {
  const Trial t = evaluate(0.5, summary(stream(1000, 1000, 900)), {});
  EXPECT_EQ(t.share, 0.5);
  EXPECT_DOUBLE_EQ(t.loss, 0.1);
  EXPECT_DOUBLE_EQ(t.carried_pps, 9e5);
  EXPECT_DOUBLE_EQ(t.l1_mbps, 672 * 0.9);
  EXPECT_EQ(t.p50, 3);
  EXPECT_EQ(t.max, 90);
  EXPECT_TRUE(t.faults.empty());
}

TEST(Trial, AGeneratorThatIsTooSlow) {
  const Trial t = evaluate(1, summary(stream(100'000, 90'000, 90'000)), {});
  ASSERT_EQ(t.faults.size(), 1U);
  EXPECT_NE(t.faults[0].find("did not send 10 %"), std::string::npos);
}

TEST(Trial, ADevicesPortThatTakesNoMoreIsTheDevices) {
  json s = stream(100'000, 90'000, 90'000);
  s["no_room"] = 5;
  const Trial t = evaluate(1, summary(s), {});
  EXPECT_TRUE(t.faults.empty());
  EXPECT_DOUBLE_EQ(t.loss, 0.1);
  EXPECT_EQ(evaluate(1, summary(s), {}, Refusals::kGenerator).faults.size(), 1U)
      << "in loopback there is no device";
  const Trial nic = evaluate(1, summary(s), {}, Refusals::kNic);
  EXPECT_EQ(nic.faults.size(), 1U) << "a NIC's line refuses, not the device";
  EXPECT_DOUBLE_EQ(nic.loss, 0.1) << "which is no rate without loss all the same";
}

TEST(Trial, AtANicLossIsOfWhatWasSent) {
  // A line that is 0.05 % slower than the machine's clock, without and with a loss.
  json s = stream(100'000, 99'950, 99'950);
  s["no_room"] = 5;
  const Trial t = evaluate(1, summary(s), {}, Refusals::kNic);
  EXPECT_TRUE(t.faults.empty());
  EXPECT_EQ(t.loss, 0);
  EXPECT_DOUBLE_EQ(t.carried_pps, 0.9995e6);
  EXPECT_GT(evaluate(1, summary(s), {}).loss, 0);
  s["received_packets"] = 99'949;
  EXPECT_GT(evaluate(1, summary(s), {}, Refusals::kNic).loss, 0);
}

TEST(Trial, CyclesOfLcoresByTheirPackets) {
  const json idle{{"rx_packets", 0}, {"cycles_per_packet", nullptr}};
  EXPECT_EQ(cycles_per_packet({{"lcores", {idle}}}), 0);
  EXPECT_EQ(cycles_per_packet(json::object()), 0);
  const json first{{"rx_packets", 300}, {"cycles_per_packet", 100.0}};
  const json second{{"rx_packets", 100}, {"cycles_per_packet", 200.0}};
  EXPECT_DOUBLE_EQ(cycles_per_packet({{"lcores", {first, idle, second}}}), 125);
}

TEST(Trial, BuffersAndTheClock) {
  json s = stream(1000, 1000, 999);
  s["no_buffer"] = 1;
  json all = summary(s);
  all["lcores"] = {{{"busy", 0.4}, {"stalled_ms", 12.0}}};
  const json router{
      {"node", "gate"}, {"stalled_ms", 9.0}, {"links", {{"left", {{"port", {{"no_mbuf", 3}}}}}}}};
  const Trial t = evaluate(1, all, {&router, 1});
  EXPECT_EQ(t.busy, 0.4);
  ASSERT_EQ(t.faults.size(), 4U);
  EXPECT_NE(t.faults[0].find("generator ran out of mbufs"), std::string::npos);
  EXPECT_NE(t.faults[1].find("generator was descheduled for 12 ms"), std::string::npos);
  EXPECT_NE(t.faults[2].find("gate was descheduled for 9 ms"), std::string::npos);
  EXPECT_NE(t.faults[3].find("gate ran out of mbufs at left"), std::string::npos);
}

TEST(Trial, AFewPacketsAreNoTrial) {
  EXPECT_EQ(evaluate(1, json::object(), {}).faults.size(), 1U);
  EXPECT_EQ(evaluate(1, json::object(), {}).loss, 1);
  const Trial few = evaluate(1e-4, summary(stream(99, 99, 99)), {});
  ASSERT_EQ(few.faults.size(), 1U);
  EXPECT_NE(few.faults[0].find("of 99 packets due"), std::string::npos);
  EXPECT_EQ(few.loss, 1) << "it does not pass";
}

}  // namespace
}  // namespace turnpike::lab
