// SPDX-License-Identifier: BSD-3-Clause
// Customers beside an attack keep their shares, and the 99th percentiles of their pings and
// requests.
#include "tests/support/gateway_attack.h"

#include "common/protocols/fcp/header.h"
#include "tests/support/gateway_lies.h"

namespace turnpike::lab::gateway_attack_test {
namespace {

INSTANTIATE_TEST_SUITE_P(, GatewayAttack, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "Sealed" : "Clear"; });

// Volumes: at east's port as many bytes again as the bottleneck carries, at west's a tenth of it.
constexpr double kToWest = kBottleneckRate / 10;

TEST_P(GatewayAttack, ReplayedPackets) {
  expect_untouched([&](Nanos now) {
    look();
    at_rate(*to_east, kBottleneckRate, now, [&] { to_east->send(old(seen.data).frame()); });
    at_rate(*to_west, kToWest, now, [&] { to_west->send(old(seen.answers).frame()); });
  });
  EXPECT_GT(east().received(&sender::HostTotals::duplicate_packets), 5000U);
  EXPECT_EQ(east().received(&sender::HostTotals::unknown_flows), 0U);
  EXPECT_GT(west().customer(0).duplicate_acks.read(), 4000U);
}

TEST_P(GatewayAttack, PacketsWithoutATrueToken) {
  expect_untouched([&](Nanos now) {
    look();
    const auto forge = [&](TunnelPacket p) {
      const uint64_t draw = random();
      if (draw % 4 == 0) p.header.flow = static_cast<uint32_t>(random());
      // The flow's own port.
      const bool request = wire::is_request(p.header.kind);
      uint16_t& port = request ? p.spec.source_port : p.spec.destination_port;
      if (draw % 8 == 2) port = static_cast<uint16_t>(random());
      p.header.token ^= 1 + static_cast<uint32_t>(random() % 1000);
      p.header.sequence += static_cast<uint32_t>(random());
      return p.frame();
    };
    at_rate(*to_east, kBottleneckRate, now, [&] { to_east->send(forge(old(seen.data))); });
    at_rate(*to_west, kToWest, now, [&] { to_west->send(forge(old(seen.answers))); });
  });
  EXPECT_GT(east().received(&sender::HostTotals::forged_packets), 5000U);
}

/// Packets have the token of mallory's own tunnel, answers that of anyone's.
TEST_P(GatewayAttack, LiesInEveryField) {
  expect_untouched([&](Nanos now) {
    look();
    const auto answer = [&](TunnelPacket p) {
      constexpr std::array kKinds{wire::Kind::kAck, wire::Kind::kSynAck, wire::Kind::kFinAck,
                                  wire::Kind::kReset};
      p.header.kind = kKinds[random() % kKinds.size()];
      p.header.acknowledgement = static_cast<uint32_t>(random());
      if (random() % 2 == 0) p.header.sequence += static_cast<uint32_t>(random() % 64);
      for (uint8_t& byte : p.congestion()) byte = static_cast<uint8_t>(random());
      return p.frame();
    };
    at_rate(*to_west, kToWest, now, [&] { to_west->send(answer(old(seen.answers))); });
    TunnelPacket* const own = mallorys(seen.data);
    if (own == nullptr) return;
    at_rate(*to_east, kBottleneckRate, now, [&] { to_east->send(lie(*own, random)); });
  });
  // In the clear her own tunnel fails again and again; that is no reason to leave the others'.
  EXPECT_EQ(west().total(&gateway::GatewayTotals::outside), 0U);
  EXPECT_EQ(world->router(0).snapshot().drops[static_cast<size_t>(router::DropReason::kPeerSilent)],
            0U);
}

/// Of a packet that has arrived long ago, and of one that is on its way.
TEST_P(GatewayAttack, MessagesOfASmallerPathMtu) {
  expect_untouched([&](Nanos now) {
    look();
    const int64_t ms = now.count() / 1'000'000;
    TunnelPacket* const own = mallorys(seen.data);
    if (ms % 10 != 0 || own == nullptr) return;
    const bool live = ms % 20 == 0;
    for (const TunnelPacket& p : live ? mallorys_under_way() : std::vector{*own})
      to_west->send(
          too_big(p, ip_of(kWestMiddle, 1), 576, mac(kWestMiddle, 0), mac(kWestMiddle, 1)));
  });
  EXPECT_GT(to_west->sent(), 0U);
  EXPECT_EQ(west().total(&gateway::GatewayTotals::mtu_reductions), 0U);
}

/// Answers to packets on their way, which come before the true ones. In the clear mallory's tunnel
/// pays nothing then, and sends as much as she does, up to her ceiling. Nothing else bounds it, and
/// it is late for the price of others. Sealed tunnels refuse these answers.
TEST_P(GatewayAttack, AFalsePriceGainsNoMoreThanTheCeiling) {
  const auto lie = [&](Nanos) {
    for (TunnelPacket& p : mallorys_under_way()) {
      TunnelPacket answer = answer_to(p, wire::Kind::kAck);
      wire::store_f32(answer.congestion().data() + fcp::kPriceOffset, 0);
      to_west->send(answer.frame());
    }
  };
  if (!GetParam()) {
    expect_shares(lie, 30_Mbps);
    return;
  }
  expect_untouched(lie);
  EXPECT_GT(west().total(&gateway::GatewayTotals::unsealed), 1000U);
}

/// Resets of all tunnels, in answer to packets on their way.
TEST_P(GatewayAttack, ForgedResets) {
  if (!GetParam()) GTEST_SKIP() << "in the clear, they end tunnels for a time";
  expect_untouched([&](Nanos) {
    for (const Frame& frame : to_east->read())
      if (auto p = read_tunnel_packet(frame); p && p->header.kind == wire::Kind::kData) {
        TunnelPacket answer = answer_to(*p, wire::Kind::kReset);
        // The payload of a true answer, old or none.
        if (random() % 2 == 0 && !seen.answers.empty()) {
          const TunnelPacket& true_one = old(seen.answers);
          const auto from = true_one.bytes.begin() + true_one.header.length;
          answer.bytes.insert(answer.bytes.end(), from, true_one.bytes.end());
        }
        to_west->send(answer.frame());
      }
    for (const Frame& frame : to_west->read())
      if (auto p = read_tunnel_packet(frame);
          p && p->header.kind == wire::Kind::kAck && seen.answers.size() < 100)
        seen.answers.push_back(std::move(*p));
  });
  EXPECT_EQ(west().customer(0).resets.read(), 0U);
  EXPECT_GT(west().total(&gateway::GatewayTotals::forged), 1000U);
}

/// At the rate of her link.
TEST_P(GatewayAttack, PacketsFromACustomersLink) {
  expect_untouched([&](Nanos now) {
    look();
    at_rate(*from_mallory, 990e6 / 8, now, [&] { from_mallory->send(hostile()); });
  });
}

}  // namespace
}  // namespace turnpike::lab::gateway_attack_test
