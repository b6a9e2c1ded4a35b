// SPDX-License-Identifier: BSD-3-Clause
// Tests that malformed and forged packets change counters only.
#include "common/protocols/fcp/header.h"
#include "common/wire/frame_builder.h"
#include "tests/support/sender_world.h"

namespace turnpike::sender::testing {
namespace {

using wire::Kind;

constexpr size_t kPayload = wire::kEthernetSize + wire::kIpv4Size + wire::kUdpSize;
using Frames = std::vector<std::pair<Nanos, std::vector<uint8_t>>>;

/// Frames that the hosts send in a run with frames injected at either end, and the run's totals.
struct Played {
  Frames sent[2];
  std::vector<FlowOutcome> outcomes;
  uint64_t duplicate_acks = 0, unknown_flows = 0, bad_feedback = 0, bad_packets = 0, resets = 0;
  uint64_t foreign_packets = 0, forged_packets = 0;
};

Played play(const std::function<void(Channel&)>& inject,
            const std::function<void(size_t, std::vector<uint8_t>&)>& alter = {}) {
  FixedLaw::reset(12e6);
  config::Topology t = two_hosts();
  t.flows = {finite(100'000), finite(50'000, 30_ms)};
  Played run;
  World w(t, {.tap = [&](size_t end, auto& frame, Nanos now) {
            run.sent[end].emplace_back(now, frame);
            if (alter) alter(end, frame);
            return true;
          }});
  inject(w.channel());
  w.run(20_s);
  w.expect_clean();
  run.outcomes = w.outcomes();
  for (size_t i = 0; i < 2; ++i) {
    run.unknown_flows += w.totals(i).unknown_flows.read();
    run.bad_packets += w.totals(i).bad_packets.read();
    run.forged_packets += w.totals(i).forged_packets.read();
    run.foreign_packets += w.totals(i).foreign_packets.read();
  }
  run.duplicate_acks = w.totals(0).duplicate_acks.read();
  run.bad_feedback = w.totals(0).bad_feedback.read();
  run.resets = w.totals(0).resets.read();
  return run;
}

std::vector<uint8_t> answer_frame(const wire::Header& h, uint16_t port) {
  wire::FrameSpec spec;
  spec.addresses = wire::Ipv4Pair{0x0a000002, 0x0a000001};
  spec.source_port = wire::kDefaultUdpPort;
  spec.destination_port = port;
  std::vector<uint8_t> payload(wire::kHeaderSize + fcp::kHeaderSize);
  wire::encode(h, payload.data());
  return wire::build_frame(spec, payload);
}

TEST(Hostile, ReplayedAnswersChangeNothing) {
  const Played plain = play([](Channel&) {});
  const Played replayed = play([&](Channel& c) {
    for (const auto& [at, frame] : plain.sent[1]) {
      c.inject(0, frame, at + 10_ms);
      c.inject(0, frame, at + 13_ms);
      c.inject(0, frame, at + 500_ms);
    }
  });
  EXPECT_EQ(plain.duplicate_acks + plain.unknown_flows, 0U);
  EXPECT_TRUE(replayed.sent[0] == plain.sent[0]);
  EXPECT_TRUE(replayed.sent[1] == plain.sent[1]);
  EXPECT_EQ(replayed.duplicate_acks + replayed.unknown_flows, 3 * plain.sent[1].size());
}

TEST(Hostile, ForgedAnswersChangeNothing) {
  const Played plain = play([](Channel&) {});
  std::mt19937_64 random(5);
  wire::Header seen;
  ASSERT_EQ(wire::decode(std::span(plain.sent[0][0].second).subspan(kPayload), seen),
            wire::HeaderError::kNone);
  const Played forged = play([&](Channel& c) {
    for (int i = 0; i < 3000; ++i) {
      constexpr std::array kKinds{Kind::kSynAck, Kind::kAck, Kind::kFinAck, Kind::kReset};
      const wire::Header h{
          .kind = kKinds[random() % 4],
          .protocol = fcp::kProtocolId,
          .length = wire::header_length(fcp::kHeaderSize, 0),
          // Half of them have the flow's id; none has the time stamps of its packets.
          .flow = i % 2 != 0 ? seen.flow : static_cast<uint32_t>(random()),
          .sequence = static_cast<uint32_t>(random() % 80),
          .acknowledgement = static_cast<uint32_t>(random() % 100),
          .echo = static_cast<uint32_t>(random() % 200) * 15625 + 1};
      const uint16_t port = Paths::source_port(random() % 16);  // the flow has one of them
      c.inject(0, answer_frame(h, port), Nanos(static_cast<int64_t>(random() % 150'000'000)));
    }
  });
  EXPECT_TRUE(forged.sent[0] == plain.sent[0]);
  EXPECT_EQ(forged.resets, 0U);
  EXPECT_EQ(forged.duplicate_acks + forged.unknown_flows + forged.forged_packets, 3000U);
}

// An off-path attacker knows addresses, ports and the protocol, and guesses flow ids, tokens and
// time stamps; one in ten packets has the right id.
TEST(Hostile, BlindFloodsChangeNothing) {
  const Played plain = play([](Channel&) {});
  std::mt19937_64 random(9);
  wire::Header seen;
  ASSERT_EQ(wire::decode(std::span(plain.sent[0][0].second).subspan(kPayload), seen),
            wire::HeaderError::kNone);
  constexpr int kFlood = 10'000;
  const Played flooded = play([&](Channel& c) {
    for (int i = 0; i < kFlood; ++i) {
      const wire::Header h{.kind = static_cast<Kind>(1 + random() % 7),
                           .protocol = fcp::kProtocolId,
                           .length = wire::header_length(fcp::kHeaderSize, 0),
                           .flow = i % 10 == 0 ? seen.flow : static_cast<uint32_t>(random()),
                           .sequence = static_cast<uint32_t>(random() % 80),
                           .acknowledgement = static_cast<uint32_t>(random() % 100),
                           .timestamp = static_cast<uint32_t>(random()),
                           .echo = static_cast<uint32_t>(random() % 3'000'000),
                           .token = static_cast<uint32_t>(random())};
      const uint16_t port = Paths::source_port(random() % 16);  // the flow has one of them
      const Nanos at(static_cast<int64_t>(random() % 150'000'000));
      if (wire::is_request(h.kind)) {
        wire::FrameSpec spec;
        spec.addresses = wire::Ipv4Pair{0x0a000001, 0x0a000002};
        spec.source_port = port;
        spec.destination_port = wire::kDefaultUdpPort;
        std::vector<uint8_t> payload(h.length);
        wire::encode(h, payload.data());
        c.inject(1, wire::build_frame(spec, payload, h.kind == Kind::kData ? 100 : 0), at);
      } else {
        c.inject(0, answer_frame(h, port), at);
      }
    }
  });
  EXPECT_TRUE(flooded.sent[0] == plain.sent[0]);
  ASSERT_EQ(flooded.outcomes.size(), plain.outcomes.size());
  for (size_t i = 0; i < plain.outcomes.size(); ++i) {
    EXPECT_TRUE(flooded.outcomes[i].completed);
    EXPECT_EQ(flooded.outcomes[i].end, plain.outcomes[i].end);
  }
  EXPECT_GT(flooded.forged_packets, 10U);
}

TEST(Hostile, FeedbackThatIsNotANumber) {
  const std::array poison{NAN, INFINITY, -INFINITY};
  size_t n = 0;
  const Played run = play([](Channel&) {},
                          [&](size_t end, std::vector<uint8_t>& frame) {
                            if (end != 1) return;
                            wire::store_be16(frame.data() + 40, 0);  // no UDP checksum
                            wire::store_f32(frame.data() + kPayload + wire::kHeaderSize + 4,
                                            poison[n++ % poison.size()]);
                          });
  ASSERT_EQ(run.outcomes.size(), 2U);
  for (const FlowOutcome& o : run.outcomes) EXPECT_TRUE(o.completed);
  EXPECT_EQ(run.bad_feedback, n);
}

TEST(Hostile, Garbage) {
  const Played plain = play([](Channel&) {});
  std::mt19937_64 random(6);
  const Played run = play([&](Channel& c) {
    for (int i = 0; i < 4000; ++i) {
      std::vector<uint8_t> frame;
      if (i % 4 == 0) {
        frame.resize(1 + random() % 200);
        for (uint8_t& b : frame) b = static_cast<uint8_t>(random());
      } else {
        // A real frame, with one bit flipped after its MACs or truncated.
        const Frames& real = plain.sent[random() % 2];
        frame = real[random() % real.size()].second;
        if (i % 4 == 1) {
          frame.resize(random() % 70 + 1);
        } else {
          frame[12 + random() % 80 % (frame.size() - 12)] ^=
              static_cast<uint8_t>(1U << random() % 8);
        }
      }
      c.inject(random() % 2, frame, Nanos(static_cast<int64_t>(random() % 150'000'000)));
    }
  });
  ASSERT_EQ(run.outcomes.size(), 2U);
  for (const FlowOutcome& o : run.outcomes) EXPECT_TRUE(o.completed);
  EXPECT_TRUE(run.sent[0] == plain.sent[0]);
  EXPECT_GT(run.bad_packets, 1000U);
  EXPECT_GT(run.foreign_packets, 100U);
}

TEST(Hostile, DataForAnUnknownFlowIsResetAndAFinIsNot) {
  FixedLaw::reset(12e6);
  config::Topology t = two_hosts();
  Frames answers;
  World w(t, {.tap = [&](size_t, auto& frame, Nanos now) {
            answers.emplace_back(now, frame);
            return true;
          }});
  wire::FrameSpec spec;
  spec.addresses = wire::Ipv4Pair{0x0a000001, 0x0a000002};
  spec.source_port = 50000;
  spec.destination_port = wire::kDefaultUdpPort;
  wire::Header h{.protocol = fcp::kProtocolId,
                 .length = wire::header_length(fcp::kHeaderSize, 0),
                 .flow = 77,
                 .sequence = 5,
                 .acknowledgement = 3,
                 .timestamp = 1234};
  std::vector<uint8_t> payload(h.length);
  int at = 1;
  for (const Kind kind : {Kind::kData, Kind::kFin}) {
    h.kind = kind;
    wire::encode(h, payload.data());
    w.channel().inject(1, wire::build_frame(spec, payload, 500), Nanos(at++));
  }
  w.run(1_s);
  ASSERT_EQ(answers.size(), 2U);
  wire::Header reset, fin;
  ASSERT_EQ(wire::decode(std::span(answers[0].second).subspan(kPayload), reset),
            wire::HeaderError::kNone);
  ASSERT_EQ(wire::decode(std::span(answers[1].second).subspan(kPayload), fin),
            wire::HeaderError::kNone);
  EXPECT_EQ(reset.kind, Kind::kReset);
  EXPECT_EQ(fin.kind, Kind::kFinAck);
  for (const wire::Header& a : {reset, fin}) {
    EXPECT_EQ(a.flow, 77U);
    EXPECT_EQ(a.sequence, 5U);
    EXPECT_EQ(a.echo, 1234U);
  }
  EXPECT_EQ(fin.acknowledgement, 3U) << "nothing is claimed that is not known";
  for (const auto& [when, frame] : answers) {
    wire::UdpFrame udp;
    EXPECT_EQ(wire::locate_udp(frame, udp), wire::FrameError::kNone);
    EXPECT_EQ(wire::verify_checksums(frame, udp), wire::FrameError::kNone);
  }
}

TEST(Hostile, ARealResetEndsTheFlow) {
  FixedLaw::reset(12e6);
  config::Topology t = two_hosts();
  t.flows = {finite(1'000'000)};
  std::vector<uint8_t> data;
  World w(t, {.tap = [&](size_t end, auto& frame, Nanos) {
            // From the third data packet on, replies are resets: the receiver has lost the flow.
            if (end == 1 && (frame[kPayload] & 15) == 4 && frame[kPayload + 11] == 2) {
              frame[kPayload] = static_cast<uint8_t>((frame[kPayload] & 0xf0) | 7);
              wire::store_be16(frame.data() + 40, 0);
            }
            return true;
          }});
  w.run(10_s);
  ASSERT_EQ(w.outcomes().size(), 1U);
  EXPECT_FALSE(w.outcomes()[0].completed);
  EXPECT_EQ(w.totals(0).resets.read(), 1U);
  FixedLaw::unsettled = 0;  // the flow was freed with packets in flight
  w.expect_clean();
}

}  // namespace
}  // namespace turnpike::sender::testing
