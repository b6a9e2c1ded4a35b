// SPDX-License-Identifier: BSD-3-Clause
// Traces and captures at a router with ports in memory.
#include "router/datapath/probe/probe.h"

#include <map>

#include <gtest/gtest.h>

#include "common/protocols/fcp/header.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/tunnel/tunnels.h"
#include "router/datapath/worker_context.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

/// A world with a probe at each worker; removes it at the end.
class Observed {
 public:
  explicit Observed(World& world, std::optional<Trace::Options> trace,
                    std::optional<Mirror::Options> mirror)
      : world_(world) {
    for (unsigned w = 0; w < world.router().workers(); ++w) {
      if (trace) {
        trace->worker = w;
        trace->mark = mark();
        traces.push_back(std::make_unique<Trace>(*trace));
      }
      if (mirror) {
        mirror->links = kLinks;
        mirrors.push_back(std::make_unique<Mirror>(*mirror));
      }
      probes_.push_back(
          std::make_unique<Probe>(Probe::Parts{.trace = trace ? traces[w].get() : nullptr,
                                               .mirror = mirror ? mirrors[w].get() : nullptr},
                                  kLinks));
      world.router().worker(w).set_probe(probes_.back().get());
    }
  }
  ~Observed() {
    for (unsigned w = 0; w < probes_.size(); ++w) world_.router().worker(w).set_probe(nullptr);
  }
  static TraceMark mark() {
    static const std::optional<TraceMark> kMark = TraceMark::make();
    return kMark.value();
  }

  /// All records so far: packets by id, and their departures.
  void drain() {
    TraceRecord r;
    for (const auto& t : traces)
      while (t->take(r)) (r.departure ? departures : packets)[r.id] = r;
  }
  [[nodiscard]] TraceRecord only() {
    drain();
    EXPECT_EQ(packets.size(), 1U);
    return packets.empty() ? TraceRecord() : packets.begin()->second;
  }

  std::vector<std::unique_ptr<Trace>> traces;
  std::vector<std::unique_ptr<Mirror>> mirrors;
  std::map<uint32_t, TraceRecord> packets, departures;

 private:
  World& world_;
  std::vector<std::unique_ptr<Probe>> probes_;
};

bool passed(const TraceRecord& r, TraceStage s) {
  return (r.stages >> static_cast<unsigned>(s) & 1) != 0;
}

struct Copy {
  MirrorRecord record;
  Frame bytes;
};

std::vector<Copy> copies(Mirror& mirror) {
  std::vector<Copy> all;
  for (const MirrorRecord* r = mirror.front(); r != nullptr; r = mirror.front()) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(r + 1);
    all.push_back({.record = *r, .bytes = Frame(bytes, bytes + r->present)});
    mirror.pop();
  }
  return all;
}

PacketFilter program(std::vector<bpf_insn> steps) {
  auto made = PacketFilter::make(std::move(steps));
  EXPECT_TRUE(made) << made.error();
  return std::move(*made);
}

/// IPv4 to the right host's address: what libpcap makes of "dst host 10.0.2.2".
PacketFilter to_right() {
  return program({{0x28, 0, 0, 12},
                  {0x15, 0, 3, 0x0800},
                  {0x20, 0, 0, 30},
                  {0x15, 0, 1, 0x0a000202},
                  {0x6, 0, 0, 65535},
                  {0x6, 0, 0, 0}});
}

// --- trace --------------------------------------------------------------------------------------

TEST(Trace, FollowsAForwardedPacketFromArrivalToDeparture) {
  World w;
  Observed o(w, Trace::Options(), std::nullopt);
  w.arrive(kLeft, fcp({.balance = 1e-8F}));
  w.poll(1_s);
  w.run_until(1100_ms);
  ASSERT_EQ(w.sent(kRight).size(), 1U);
  const TraceRecord r = o.only();
  EXPECT_EQ(r.outcome, Outcome::kQueued);
  for (const TraceStage s : {TraceStage::kRx, TraceStage::kParse, TraceStage::kLookup,
                             TraceStage::kPolice, TraceStage::kPrice, TraceStage::kEnqueue})
    EXPECT_TRUE(passed(r, s)) << kTraceStageNames[static_cast<size_t>(s)];
  EXPECT_EQ(r.info.input, kLeft);
  EXPECT_EQ(r.info.link, kRight);
  EXPECT_EQ(r.hop.action, NextHop::Action::kForward);
  EXPECT_EQ(r.hop.macs.destination, host_mac(kRight));
  EXPECT_EQ(fcp::load(r.before.data()).price, 0.0F);
  EXPECT_GT(fcp::load(r.after.data()).price, 0.0F);
  EXPECT_EQ(r.time, Nanos(1_s));
  ASSERT_EQ(o.departures.size(), 1U);
  const TraceRecord& d = o.departures.begin()->second;
  EXPECT_EQ(d.id, r.id);
  EXPECT_EQ(d.outcome, Outcome::kSent);
  EXPECT_EQ(d.link, kRight);
}

TEST(Trace, SeesADepartureFromAPortWithoutAQueue) {
  World w;
  Observed o(w, Trace::Options(), std::nullopt);
  w.port(kNarrow).room = 0;  // the port takes nothing yet
  w.arrive(kLeft, v4({.destination = "10.0.3.2"}));
  w.poll(1_s);
  o.drain();
  EXPECT_EQ(o.packets.size(), 1U);
  EXPECT_TRUE(o.departures.empty());
  w.port(kNarrow).room = 10;
  w.poll(2_s);
  o.drain();
  ASSERT_EQ(o.departures.size(), 1U);
  EXPECT_EQ(o.departures.begin()->second.time, Nanos(2_s));
  w.sent(kNarrow);
}

TEST(Trace, SaysWhyAPacketIsDroppedAndWhere) {
  World w;
  Observed o(w, Trace::Options(), std::nullopt);
  w.arrive(kLeft, v4({.destination = "192.168.1.1"}));
  w.poll(1_s);
  const TraceRecord r = o.only();
  EXPECT_EQ(r.outcome, Outcome::kDropped);
  EXPECT_EQ(r.reason, DropReason::kNoRoute);
  EXPECT_EQ(r.last, TraceStage::kLookup);
  EXPECT_TRUE(passed(r, TraceStage::kParse));
  EXPECT_FALSE(passed(r, TraceStage::kLookup));
  w.sent(kLeft);
}

TEST(Trace, SaysThatAMalformedPacketFailsInParse) {
  World w;
  Observed o(w, Trace::Options(), std::nullopt);
  Frame bad = v4({});
  bad[24] ^= 1;  // its header checksum
  w.arrive(kLeft, bad);
  w.poll(1_s);
  const TraceRecord r = o.only();
  EXPECT_EQ(r.reason, DropReason::kBadChecksum);
  EXPECT_EQ(r.last, TraceStage::kParse);
}

TEST(Trace, SaysThatAPacketIsDelivered) {
  World w;
  Observed o(w, Trace::Options(), std::nullopt);
  w.arrive(kLeft, v4({.destination = "10.0.1.1", .protocol = kIcmp}, icmp(8, 0, 1, bytes(20))));
  w.poll(1_s);
  const TraceRecord r = o.only();
  EXPECT_EQ(r.outcome, Outcome::kDelivered);
  EXPECT_EQ(r.last, TraceStage::kLocalInput);
  EXPECT_EQ(w.sent(kLeft).size(), 1U);  // the answer, which is no packet of the trace
}

/// Takes what goes to the right as a gateway does, and drops of it what is too large.
class TunnelsToTheRight final : public Tunnels {
 public:
  bool take_handed(Burst& /*burst*/, Nanos /*now*/) override { return false; }
  void enter(Burst& burst, WorkerContext& context) override {
    for_each(burst.forward, [&](unsigned i) {
      if (burst.info[i].link != kRight) return;
      if (burst.info[i].datagram > 1000) return burst.drop(i, DropReason::kTooBig);
      rte_pktmbuf_free(burst.mbufs[i]);
      burst.leave(i);
      context.counters->delivered.add();
    });
  }
  void receive(Burst& /*burst*/, WorkerContext& /*context*/) override {}
  Nanos poll(Nanos /*now*/) override { return kNever; }
  Origin fill(Burst& /*burst*/, Nanos /*now*/) override { return Origin::kNothing; }
  void restrict(Burst& /*burst*/) override {}
  void refused(const Burst& /*burst*/) override {}
  void stalled(Nanos /*now*/) override {}
};

TEST(Trace, SaysThatAPacketEntersATunnel) {
  TunnelsToTheRight tunnels;  // outlives the workers
  World w;
  w.router().worker(0).set_tunnels(&tunnels);
  Observed o(w, Trace::Options(), std::nullopt);
  const auto traced = [&](const Frame& packet, Nanos at) {
    o.packets.clear();
    w.arrive(kLeft, packet);
    w.poll(at);
    return o.only();
  };
  const TraceRecord in = traced(plain(200), 1_s);
  EXPECT_EQ(in.outcome, Outcome::kTunnelled);
  EXPECT_EQ(in.last, TraceStage::kTunnel);
  EXPECT_TRUE(passed(in, TraceStage::kTunnel));
  EXPECT_FALSE(passed(in, TraceStage::kPolice));
  const TraceRecord refused = traced(plain(1200), 2_s);
  EXPECT_EQ(refused.reason, DropReason::kTooBig);
  EXPECT_EQ(refused.last, TraceStage::kTunnel);
  EXPECT_FALSE(passed(refused, TraceStage::kTunnel));
  const TraceRecord past = traced(v4({.destination = "10.0.3.2"}), 3_s);
  EXPECT_EQ(past.outcome, Outcome::kQueued);
  EXPECT_TRUE(passed(past, TraceStage::kTunnel));
  w.sent(kNarrow);
  w.sent(kLeft);  // ICMP: packet too big
}

TEST(Trace, NamesAFullQueue) {
  World w;
  Observed o(w, Trace::Options{.packets = 200}, std::nullopt);
  for (int i = 0; i < 120; ++i) w.arrive(kLeft, plain(1500));
  w.poll(1_s);
  o.drain();
  EXPECT_EQ(o.packets.size(), 120U);
  size_t full = 0;
  for (const auto& [id, r] : o.packets)
    if (r.outcome == Outcome::kDropped) {
      EXPECT_EQ(r.reason, DropReason::kQueueFull);
      EXPECT_EQ(r.last, TraceStage::kPrice);
      EXPECT_GT(r.backlog, 0);
      ++full;
    }
  EXPECT_EQ(full, w.drops(DropReason::kQueueFull));
  EXPECT_GT(full, 0U);
  w.run_until(2_s);
  o.drain();
  EXPECT_EQ(o.departures.size(), 120 - full);
  w.sent(kRight);
}

TEST(Trace, ChoosesByFilterAndLinkAndEndsItself) {
  World w;
  const PacketFilter filter = to_right();
  Observed o(w, Trace::Options{.packets = 2, .filter = &filter}, std::nullopt);
  for (int i = 0; i < 5; ++i) {
    w.arrive(kLeft, v4({.destination = "10.0.3.2"}));
    w.arrive(kLeft, v4({}));
  }
  w.poll(1_s);
  o.drain();
  ASSERT_EQ(o.packets.size(), 2U);
  for (const auto& [id, r] : o.packets) EXPECT_EQ(r.info.link, kRight);
  Observed elsewhere(w, Trace::Options{.link = kNarrow}, std::nullopt);
  w.arrive(kLeft, v4({}));
  w.poll(2_s);
  elsewhere.drain();
  EXPECT_TRUE(elsewhere.packets.empty());
  w.run_until(3_s);
  w.sent(kRight);
  w.sent(kNarrow);
}

TEST(Trace, CountsRecordsThatFoundNoSlot) {
  World w;
  Observed o(w, Trace::Options{.packets = 5000}, std::nullopt);
  for (int i = 0; i < 2000; ++i) w.arrive(kLeft, v4({.destination = "10.0.3.2"}));
  w.poll(1_s);
  o.drain();
  EXPECT_EQ(o.packets.size() + o.departures.size() + o.traces[0]->lost(), 4000U);
  EXPECT_GT(o.traces[0]->lost(), 0U);
  w.sent(kNarrow);
}

// --- capture ------------------------------------------------------------------------------------

TEST(Mirror, CopiesWhatArrivesAndWhatLeaves) {
  World w;
  Observed o(w, std::nullopt, Mirror::Options{.snap = 60});
  w.arrive(kLeft, v4({.destination = "10.0.3.2"}));
  w.poll(1_s);
  const Frame sent = w.only(kNarrow);
  const auto all = copies(*o.mirrors[0]);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].record.where, MirrorRecord::Where::kReceived);
  EXPECT_EQ(all[0].record.link, kLeft);
  EXPECT_EQ(all[1].record.where, MirrorRecord::Where::kSent);
  EXPECT_EQ(all[1].record.link, kNarrow);
  EXPECT_EQ(all[1].record.length, sent.size());
  EXPECT_EQ(all[1].record.present, 60U);
  EXPECT_EQ(all[1].bytes, Frame(sent.begin(), sent.begin() + 60));
  EXPECT_EQ(o.mirrors[0]->counts()[kNarrow].copied.read(), 1U);
}

TEST(Mirror, CopiesAPacketOnceHoweverOftenItIsSent) {
  World w;
  Observed o(w, std::nullopt, Mirror::Options{.received = false});
  w.port(kNarrow).room = 1;
  for (int i = 0; i < 3; ++i) w.arrive(kLeft, v4({.destination = "10.0.3.2"}));
  w.poll(1_s);
  w.poll(1_s + 10_us);
  EXPECT_EQ(copies(*o.mirrors[0]).size(), 1U);
  w.port(kNarrow).room = 3;
  w.poll(2_s);
  EXPECT_EQ(copies(*o.mirrors[0]).size(), 2U);
  w.sent(kNarrow);
}

TEST(Mirror, CopiesDroppedPacketsWithTheirReasons) {
  World w;
  Observed o(w, std::nullopt, Mirror::Options{.received = false, .sent = false, .dropped = true});
  w.arrive(kLeft, v4({.destination = "192.168.1.1"}));
  w.arrive(kLeft, v4({}));
  w.poll(1_s);
  const auto all = copies(*o.mirrors[0]);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].record.where, MirrorRecord::Where::kDropped);
  EXPECT_EQ(all[0].record.reason, DropReason::kNoRoute);
  EXPECT_EQ(all[0].record.link, kLeft);
  w.run_until(2_s);
  w.sent(kRight);
  w.sent(kLeft);
}

TEST(Mirror, CountsWhatTheRingHasNoSlotFor) {
  World w;
  Observed o(w, std::nullopt, Mirror::Options{.sent = false, .slots = 10});
  for (int i = 0; i < 30; ++i) w.arrive(kLeft, v4({.destination = "10.0.3.2"}));
  w.poll(1_s);
  EXPECT_EQ(copies(*o.mirrors[0]).size(), 10U);
  EXPECT_EQ(o.mirrors[0]->counts()[kLeft].full.read(), 20U);
  EXPECT_EQ(o.mirrors[0]->counts()[kLeft].copied.read(), 10U);
  w.sent(kNarrow);
}

TEST(Mirror, StaysWithinItsShareOfTheWorkersTime) {
  World w;
  const double share = 0.01;
  Observed o(w, std::nullopt, Mirror::Options{.sent = false, .share = share, .slots = 100'000});
  size_t copied = 0;
  constexpr int kBursts = 1000;
  for (int i = 0; i < kBursts; ++i) {
    for (int k = 0; k < 32; ++k) w.arrive(kLeft, v4({.destination = "10.0.3.2"}));
    w.poll(1_s + Nanos(i * 1000));  // 32 packets/us
    w.sent(kNarrow);
    copied += copies(*o.mirrors[0]).size();
  }
  const auto& counts = o.mirrors[0]->counts()[kLeft];
  EXPECT_EQ(counts.copied.read(), copied);
  EXPECT_EQ(copied + counts.spent.read(), 32U * kBursts);
  // 1 ms at 1 %, and the depth of 50 us, in copies of 72 B.
  const double cost = Mirror::kCopy + 72 * Mirror::kByte;
  EXPECT_LE(static_cast<double>(copied), (1e6 * share + 50'000) / cost + 1);
  EXPECT_GT(copied, 100U);
}

TEST(Mirror, SamplesAtRandomWithTheStatedMean) {
  World w;
  Observed o(w, std::nullopt, Mirror::Options{.sent = false, .sample = 50, .slots = 100'000});
  constexpr int kPackets = 32'000;
  for (int i = 0; i < kPackets / 32; ++i) {
    for (int k = 0; k < 32; ++k) w.arrive(kLeft, v4({.destination = "10.0.3.2"}));
    w.poll(1_s + Nanos(i * 1'000'000));
    w.sent(kNarrow);
  }
  const auto n = static_cast<double>(copies(*o.mirrors[0]).size());
  EXPECT_NEAR(n, kPackets / 50.0, 5 * 25);  // gaps of standard deviation 29: 5 sigma of 640 gaps
}

TEST(Mirror, TracesAndCapturesAtOnce) {
  World w(2);
  Observed o(w, Trace::Options(), Mirror::Options());
  w.arrive(kLeft, v4({}), 1);
  w.poll(1_s);
  w.run_until(2_s);
  EXPECT_EQ(o.only().outcome, Outcome::kQueued);
  EXPECT_EQ(o.departures.size(), 1U);  // seen by the link's owner, worker 0
  EXPECT_EQ(copies(*o.mirrors[1]).size(), 1U);
  EXPECT_EQ(copies(*o.mirrors[0]).size(), 1U);
  w.sent(kRight);
}

// --- filters ------------------------------------------------------------------------------------

TEST(PacketFilter, RefusesProgramsThatCouldGoWrong) {
  const std::vector<std::vector<bpf_insn>> bad{
      {{0x15, 5, 0, 0}, {0x6, 0, 0, 1}},           // jumps past its end
      {{0x28, 0, 0, 12}},                          // does not end
      {{0x34, 0, 0, 0}, {0x6, 0, 0, 1}},           // divides by zero
      {{0x61, 0, 0, 99}, {0x6, 0, 0, 1}},          // reads memory that it has not
      {{0xffff, 0, 0, 0}, {0x6, 0, 0, 1}},         // is no instruction
      {{0x05, 0, 0, 0xffffffff}, {0x6, 0, 0, 1}},  // jumps back
      std::vector<bpf_insn>(600, {0x6, 0, 0, 1}),
  };
  for (const auto& p : bad) EXPECT_FALSE(PacketFilter::make(p)) << p[0].code;
}

TEST(PacketFilter, MatchesNothingBeyondTheBytesGiven) {
  const PacketFilter filter = to_right();
  const Frame frame = v4({});
  EXPECT_TRUE(filter.matches(frame.data(), static_cast<uint32_t>(frame.size()), 72));
  for (uint32_t n = 0; n < 34; ++n) EXPECT_FALSE(filter.matches(frame.data(), n, 72));
}

}  // namespace
}  // namespace turnpike::router::test
