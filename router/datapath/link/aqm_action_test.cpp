// SPDX-License-Identifier: BSD-3-Clause
// The router applies AQM actions: early drops and CE marks (RFC 3168).
#include <gtest/gtest.h>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/ingress/ip.h"
#include "tests/support/router_world.h"
#include "tests/support/scripted_law.h"

namespace turnpike::router::test {
namespace {

constexpr size_t kIp = 14;  // offset of the IP header

World scripted(LawScript script) {
  ScriptedLaw::script = std::move(script);
  RouterOptions options;
  options.find = ScriptedLaw::find;
  return World(1, topology(), options);
}

/// plain() with these ECN bits.
Frame with_ecn(uint8_t bits, bool v6) {
  Frame f = plain(200, v6);
  uint8_t* ip = f.data() + kIp;
  ip[1] = static_cast<uint8_t>(v6 ? bits << 4 : bits);
  if (v6) return f;
  wire::store_be16(ip + 10, 0);
  wire::store_be16(ip + 10, wire::checksum_of(wire::sum_words({ip, 20})));
  return f;
}
uint8_t ecn_of(const Frame& f, bool v6) { return v6 ? f[kIp + 1] >> 4 & 3 : f[kIp + 1] & 3; }

TEST(AqmAction, SignalMarksWhatUnderstandsAndDropsTheRest) {
  constexpr uint8_t kNotEct = 0, kEct1 = 1, kEct0 = 2, kCe = 3;
  for (const bool v6 : {false, true}) {
    for (const uint8_t bits : {kEct1, kEct0, kCe}) {
      World w = scripted({.action = AqmAction::kSignal});
      w.arrive(kLeft, with_ecn(bits, v6));
      w.poll(w.now);
      const Frame out = w.only(kRight);
      EXPECT_EQ(ecn_of(out, v6), kCe);
      EXPECT_EQ(unsound(out), "");
      EXPECT_EQ(w.snapshot().dropped(), 0U);
    }
    World w = scripted({.action = AqmAction::kSignal});
    w.arrive(kLeft, with_ecn(kNotEct, v6));
    w.poll(w.now);
    EXPECT_TRUE(w.sent(kRight).empty());
    w.expect_one_drop(DropReason::kEarlyDrop);
  }
}

TEST(AqmAction, MarkingTouchesTwoBitsAndTheChecksumOnly) {
  // Every value of the byte's other six bits, which vary the checksum.
  for (unsigned dscp = 0; dscp < 64; ++dscp) {
    World w = scripted({.action = AqmAction::kSignal});
    w.arrive(kLeft, with_ecn(static_cast<uint8_t>(dscp << 2 | 2), false));
    w.poll(w.now);
    const Frame out = w.only(kRight);
    EXPECT_EQ(out[kIp + 1], dscp << 2 | 3);
    EXPECT_EQ(unsound(out), "");
  }
}

TEST(AqmAction, DropIsCountedAtTheLinkAndLeavesNothingBehind) {
  World w = scripted({.action = AqmAction::kDrop});
  for (int i = 0; i < 5; ++i) w.arrive(kLeft, with_ecn(2, false));
  w.poll(w.now);
  EXPECT_TRUE(w.sent(kRight).empty());
  const Snapshot s = w.snapshot();
  EXPECT_EQ(s.links[kRight].egress_drops(), 5U);
  EXPECT_EQ(s.drops[static_cast<size_t>(DropReason::kEarlyDrop)], 5U);
  EXPECT_EQ(s.links[kRight].queued_bytes, 0U);
}

TEST(AqmAction, TheLawSeesItsOwnPacketsHeaders) {
  World w = scripted({.action = AqmAction::kPass});
  w.arrive(kLeft, fcp({.datagram = 100}));
  w.poll(w.now);
  EXPECT_EQ(w.sent(kRight).size(), 1U);
  ASSERT_EQ(ScriptedLaw::law->seen.size(), 1U);
  EXPECT_NE(ScriptedLaw::law->seen[0].header, nullptr);
}

TEST(AqmAction, ALawThatDoesNotJudgeIsNotHeard) {
  World w = scripted({.action = AqmAction::kDrop, .marks_or_drops = false});
  w.arrive(kLeft, plain(200));
  w.poll(w.now);
  EXPECT_EQ(w.sent(kRight).size(), 1U);
}

TEST(AqmAction, AddressResolutionIsNobodysFlow) {
  // The law is at the egress link to the host that sends requests.
  config::Topology t = topology();
  t.links[kLeft].directions[0].law = t.links[kRight].directions[0].law;
  ScriptedLaw::script = {.action = AqmAction::kDrop};
  RouterOptions options;
  options.find = ScriptedLaw::find;
  World w(1, t, options);
  Frame request{0, 1, 8, 0, 6, 4, 0, 1};
  request.resize(46);
  const wire::Mac mac = host_mac(kLeft);
  std::copy(mac.begin(), mac.end(), request.begin() + 8);
  wire::store_be32(request.data() + 14, ipv4("10.0.1.2"));
  wire::store_be32(request.data() + 24, ipv4("10.0.1.1"));
  w.arrive(kLeft, ethernet(kLeft, kEtherTypeArp, request));
  w.arrive(kLeft, plain(200));
  w.poll(w.now);
  EXPECT_EQ(w.sent(kLeft).size(), 1U) << "the reply";
  w.expect_one_drop(DropReason::kEarlyDrop);
}

TEST(AqmAction, WhatTheBufferRefusesIsNotDroppedTwice) {
  config::Topology t = topology();
  t.links[kRight].directions[0].buffer = Bytes(100);
  ScriptedLaw::script = {.action = AqmAction::kDrop};
  RouterOptions options;
  options.find = ScriptedLaw::find;
  World w(1, t, options);
  w.arrive(kLeft, plain(200));
  w.poll(w.now);
  w.expect_one_drop(DropReason::kQueueFull);
}

}  // namespace
}  // namespace turnpike::router::test
