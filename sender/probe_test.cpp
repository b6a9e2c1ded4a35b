// SPDX-License-Identifier: BSD-3-Clause
// Tests probes that a flow's law requests, and the feedback that a receiver's law returns.
#include "tests/support/sender_world.h"

namespace turnpike::sender::testing {
namespace {

// Offsets in the congestion header: probe flag, count of data packets since the last probe.
constexpr size_t kProbeAt = 0, kCountAt = 4;

/// Requests a probe at every tenth ACK. One packet is in flight at a time, so the sender sends a
/// probe before every tenth packet.
class ProbingLaw final : public FlowLaw {
 public:
  void set_target(Budget) override {}
  double write_syn(const FlowState&, uint32_t, uint8_t* header, PacketNote&) override {
    return clear(header);
  }
  double write_data(const FlowState&, uint32_t, uint8_t* header, PacketNote&) override {
    return clear(header);
  }
  double write_fin(const FlowState&, uint32_t, uint8_t* header, PacketNote&) override {
    return clear(header);
  }
  void write_probe(const FlowState&, uint32_t size, uint8_t* header) override {
    EXPECT_EQ(size, 84U);
    clear(header);
    wire::store_be32(header + kProbeAt, 1);
    probe_ = false;
  }
  Opening on_syn_ack(const FlowState&, const PacketNote&, const uint8_t*) override {
    return {allow()};
  }
  Allowance on_ack(const FlowState&, const PacketNote&, const uint8_t*) override {
    probe_ = probe_ || ++acknowledged_ % 10 == 0;
    return allow();
  }
  Allowance on_ack_without_feedback(const FlowState&, const PacketNote&) override {
    return allow();
  }
  Allowance on_loss(const FlowState&, const PacketNote&) override { return allow(); }
  Allowance on_timeout(const FlowState&) override { return allow(); }
  Allowance on_pause(const FlowState&, Nanos) override { return allow(); }

 private:
  static double clear(uint8_t* header) {
    std::memset(header, 0, fcp::kHeaderSize);
    return 0;
  }
  [[nodiscard]] Allowance allow() const {
    return {.rate = bytes_per_second(12_Mbps), .window = 1500, .probe = probe_};
  }

  unsigned acknowledged_ = 0;
  bool probe_ = true;
};

class CountingLaw final : public ReceiverLaw {
 public:
  void on_probe(const uint8_t* header, Nanos) override {
    EXPECT_EQ(wire::load_be32(header + kProbeAt), 1U);
    count_ = 0;
  }
  void on_data(uint32_t size, uint8_t* header, Nanos) override {
    EXPECT_EQ(size, 1500U);
    wire::store_be32(header + kCountAt, ++count_);
  }

 private:
  uint32_t count_ = 0;
};

const Protocol& probing() {
  static const Protocol protocol = [] {
    Protocol p = *find_protocol("fcp");
    p.make_flow_law = [](const ParamValues&, void* storage) -> FlowLaw* {
      return new (storage) ProbingLaw;
    };
    p.make_receiver_law = make_receiver_law<CountingLaw>;
    return p;
  }();
  return protocol;
}

TEST(Probe, GoesRightBeforeTheDataThatItsLawSaysAndIsNobodysLoss) {
  std::vector<uint32_t> probed, carried;
  uint64_t answers = 0;
  config::Topology t = two_hosts();
  t.flows = {finite(95 * 1416)};
  World w(t,
          {.tap =
               [&](size_t end, auto& frame, Nanos) {
                 wire::Header h;
                 if (wire::decode(std::span(frame).subspan(42), h) != wire::HeaderError::kNone)
                   return false;
                 answers += end;
                 if (h.kind != wire::Kind::kData) return true;
                 if (frame.size() > 14 + 84) {
                   carried.push_back(h.sequence);
                   return true;
                 }
                 EXPECT_EQ(h.sequence, carried.size());
                 probed.push_back(h.sequence);
                 return probed.size() % 2 == 0;
               }},
          [](std::string_view) { return &probing(); });
  w.run(10_s);
  ASSERT_EQ(w.outcomes().size(), 1U);
  EXPECT_TRUE(w.outcomes()[0].completed);
  EXPECT_EQ(probed, (std::vector<uint32_t>{0, 10, 20, 30, 40, 50, 60, 70, 80, 90}));
  EXPECT_EQ(carried.size(), 95U);
  EXPECT_EQ(answers, 95U + 2) << "a probe is not answered";
  EXPECT_EQ(w.totals(0).sent_probes.read(), 10U);
  EXPECT_EQ(w.totals(0).sent_packets.read(), 95U);
  EXPECT_EQ(w.totals(0).lost_packets.read(), 0U);
  EXPECT_EQ(w.totals(1).received_packets.read(), 95U);
}

class ReceiversLaw : public ::testing::Test {
 protected:
  std::optional<Reply> receive(wire::Kind kind, const Protocol& protocol, uint32_t size,
                               uint32_t sequence = 0, Nanos now = 1_s) {
    header = {};
    wire::store_be32(header.data(), size == 84 ? 1 : 0);
    const wire::Header h{.kind = kind, .flow = 1, .sequence = sequence, .token = token};
    const auto reply = receiver->receive({.flow = 1, .port = 50000, .ip_version = 4},
                                         {.header = h,
                                          .protocol = protocol,
                                          .size = size,
                                          .congestion = header.data(),
                                          .empty = size == 84},
                                         now);
    if (kind == wire::Kind::kSyn) token = reply->token;
    return reply;
  }
  [[nodiscard]] uint32_t count() const { return wire::load_be32(header.data() + kCountAt); }

  HostTotals totals;
  std::unique_ptr<Receiver> receiver = std::make_unique<Receiver>(8, 64, totals);
  std::array<uint8_t, 20> header{};
  uint32_t token = 0;
};

TEST_F(ReceiversLaw, RewritesWhatGoesBack) {
  EXPECT_TRUE(receive(wire::Kind::kSyn, probing(), 84));
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(receive(wire::Kind::kData, probing(), 1500, i));
    EXPECT_EQ(count(), i + 1);
  }
  EXPECT_FALSE(receive(wire::Kind::kData, probing(), 84, 5)) << "a probe is not answered";
  EXPECT_TRUE(receive(wire::Kind::kData, probing(), 1500, 5));
  EXPECT_EQ(count(), 1U);
  EXPECT_TRUE(receive(wire::Kind::kSyn, probing(), 84, 0, 70_s)) << "another flow of the same id";
  EXPECT_TRUE(receive(wire::Kind::kData, probing(), 1500, 0, 70_s));
  EXPECT_EQ(count(), 1U);
  EXPECT_EQ(totals.received_packets.read(), 7U);
}

TEST_F(ReceiversLaw, IsNotAskedAboutAnotherProtocolsHeaders) {
  const Protocol& fcp = *find_protocol("fcp");
  EXPECT_FALSE(receive(wire::Kind::kData, probing(), 84));
  EXPECT_EQ(totals.unknown_flows.read(), 1U);
  EXPECT_TRUE(receive(wire::Kind::kSyn, fcp, 84));
  EXPECT_TRUE(receive(wire::Kind::kData, fcp, 1500));
  EXPECT_FALSE(receive(wire::Kind::kData, fcp, 84)) << "FCP has no receiver's law";
  EXPECT_FALSE(receive(wire::Kind::kData, probing(), 84)) << "not the SYN's protocol";
  EXPECT_TRUE(receive(wire::Kind::kData, probing(), 1500, 1));
  EXPECT_EQ(count(), 0U);
  EXPECT_EQ(totals.refused_packets.read(), 2U);
}

}  // namespace
}  // namespace turnpike::sender::testing
