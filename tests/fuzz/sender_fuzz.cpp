// SPDX-License-Identifier: BSD-3-Clause
// Flows of a host under any law and strategy, and answers from a path or an attacker: late,
// repeated, reordered, lost, with any congestion header, while time advances in steps and stands
// still. Checks after every step: each open flow has a timer, its records add up, its pace is a
// number within the port's rate, and the host has promised no more than its budget.
//
// The input: a byte for the scheme, one for strategy and port, then steps. A step's first byte:
// bits 0-3 the action, 4-7 a count or an index.
#include <bitset>
#include <optional>

#include "common/protocols/fcp/header.h"
#include "common/protocols/packet_headers.h"
#include "sender/connection/source.h"
#include "sender/recovery/loss.h"
#include "tests/fuzz/bench.h"
#include "tests/fuzz/scheme.h"
#include "tests/support/sender_hosts.h"

namespace {

using namespace turnpike;
using namespace turnpike::fuzz;
using namespace turnpike::sender;
using wire::Kind;

constexpr size_t kFlows = 8, kRecords = 128, kMaxSteps = 96, kMaxPackets = 300, kMaxPolls = 200;
constexpr size_t kSeen = 64;         // packets that may still be answered
constexpr size_t kSequences = 1024;  // sequence numbers that the receiver tracks
constexpr size_t kMaxCongestion = 64;
constexpr size_t kKinds = 4;  // of flows
constexpr std::array<std::string_view, 6> kStrategies{
    "equal-budget", "equal-throughput", "max-throughput", "background", "stability", "each-flow"};

class NoOutcomes final : public OutcomeSink {
 public:
  void flow_ended(const FlowOutcome&) override { ++ended; }
  uint64_t ended = 0;
};

config::Topology traffic() {
  config::Topology t = sender::testing::two_hosts();
  for (config::Direction& d : t.links[0].directions) d.buffer = Bytes(250'000);
  config::Flow f;
  f.name = "flow";
  f.to = 1;
  t.flows.push_back(f);
  return t;
}

/// State that all runs share. The lcore's clock continues from one run to the next.
struct Machine {
  config::Topology topology = traffic();
  std::unique_ptr<Bench> bench = set_up("sender_fuzz", 1023);
  NoOutcomes outcomes;
  std::unique_ptr<LcoreState> lcore;
  Paths paths{topology, 0};
  Port port;
  Nanos now{0};

  /// Moves the clock to the next wrap of 32-bit ticks.
  void next_turn() {
    constexpr int64_t kTurn = int64_t{1} << 38;
    now = Nanos(((now + 10_ms).count() / kTurn + 1) * kTurn);
    if (lcore && now.count() < int64_t{1} << 61) return;
    now = Nanos(kTurn);
    lcore =
        std::make_unique<LcoreState>(LcoreOptions{.size = {.flows = kFlows, .records = kRecords},
                                                  .groups = 1,
                                                  .pool = bench->pool.get(),
                                                  .outcomes = outcomes,
                                                  .populated = false});
  }
};
Machine* machine;

/// A packet that was sent.
struct Seen {
  uint32_t flow = 0;
  Kind kind = Kind::kData;
  uint8_t place = 0;  // of the flow in the world's list
  uint16_t port = 0;
  uint32_t sequence = 0, timestamp = 0;
  std::array<uint8_t, kMaxCongestion> congestion;
};

std::array<Seen, kSeen> recent;

/// The other end of a flow.
struct Peer {
  uint32_t flow = 0;
  Nanos opened{0};
  double data_bytes = 0;
  double most_rate = 0;  // B/s
  uint32_t packet = 0;
  uint32_t expected = 0;
  std::bitset<kSequences> received{};

  void receive(uint32_t sequence) {
    if (sequence < kSequences) received.set(sequence);
    while (expected < kSequences && received[expected]) ++expected;
  }
};

class Play {
 public:
  explicit Play(Input& input)
      : input_(input), lcore_(*machine->lcore), tx_(machine->port), scheme_(input.byte()) {
    const uint8_t how = input.byte();
    config::Direction port = machine->topology.links[0].directions[0];
    if ((how & 0x70) == 0x70) port.law = {std::string(scheme_.protocol->name), scheme_.link()};
    if ((how & 128) != 0) now_ -= 3_ms;  // 32-bit ticks wrap during the run
    const std::string_view strategy = kStrategies[(how & 15) % kStrategies.size()];
    shared_ = strategy != "each-flow";
    line_ = bytes_per_second(port.rate);
    source_.emplace(SourceParts{.lcore = lcore_,
                                .totals = totals_,
                                .delays = &delays_,
                                .tx = tx_,
                                .paths = machine->paths,
                                .budget = Budget(1),
                                .strategy = make_strategy(strategy, Budget(1)),
                                .line_rate = line_,
                                .nic = Nic(port, 1)});
    for (size_t k = 0; k < kKinds; ++k) {
      FlowClass& kind = kinds_[k];
      kind = {.protocol = scheme_.protocol,
              .params = scheme_.flow(),
              .terms = {.share = static_cast<double>(1 + k),
                        .hold = k == 1 ? 2e6 : 0,
                        .background = k == 3},
              .packet = k == 2 ? 300U : 1500U,
              .headers = packet_headers(*scheme_.protocol, 4),
              .count_packets = k == 2};
      if (k == 1) kind.limit = 1e5;
    }
    if (scheme_.protocol->id == fcp::kProtocolId) path_[0] = {fcp::kPriceOffset, 1e-7F};
    lcore_.last_stall_end = Nanos(0);
    open(input.byte());
  }

  void run() {
    for (size_t step = 0; step < kMaxSteps && !input_.empty() && going(); ++step) {
      act(input_.byte());
      check();
    }
    end();
  }

  [[nodiscard]] Nanos now() const { return now_; }

 private:
  [[nodiscard]] bool going() const { return sent_ < kMaxPackets && polls_ < kMaxPolls; }

  void act(uint8_t b) {
    const size_t arg = b >> 4;
    switch (b & 15) {
      case 0:
        return answer_oldest(1 + (arg & 3));
      case 1:
        return answer_oldest(kSeen);
      case 2:
        return answer(seen_at(input_.byte()));
      case 3:
        return forge(seen_at(input_.byte()));
      case 4:
        return advance(now_ + input_.time());
      case 5:
        return stall(input_.time());
      case 6:
        path_[arg & 1] = {input_.below(scheme_.protocol->header_size / 4U) * 4, input_.real()};
        return;
      case 7:
        oldest_ = std::min(last_, oldest_ + arg + 1);
        return;
      case 8:
        return open(input_.byte());
      case 9:
        return control(arg);
      case 10:
        return set_budget(arg);
      case 11:
        machine->port.room = arg == 0 ? SIZE_MAX : arg - 1;
        return poll();
      case 12:
        return rounds(1 + arg, input_.time());
      case 13:
        return reset(seen_at(input_.byte()));
      case 14:
        return answer_spoilt();
      default:
        return acknowledge_silently(arg + 1);
    }
  }

  void open(uint8_t b) {
    if (lcore_.flows.full() || peer_count_ == kPeers) return;
    constexpr std::array<uint64_t, 8> kSizes{config::kEndless, 1,      1000,    3000,
                                             20'000,           50'000, 150'000, 0};
    const FlowClass& kind = kinds_[b & 3];
    const Event event{.at = now_, .to = 1, .bytes = kSizes[b >> 2 & 7]};
    if (event.bytes == 0) return;  // schedules have no empty flows
    const Flow& f = source_->open(kind, event, now_);
    peers_[peer_count_++] = {.flow = f.id,
                             .opened = now_,
                             .most_rate = std::min(line_, kind.limit),
                             .packet = kind.packet};
    flush();
  }

  void control(size_t arg) {
    if (peer_count_ == 0) return;
    Flow* f = lcore_.flows.find(peers_[input_.below(peer_count_)].flow);
    if (f == nullptr) return;
    switch (arg & 3) {
      case 0:
        source_->stop(*f, now_);
        break;
      case 1:
        source_->link_restored(*f, now_);
        break;
      case 2:
        source_->wind_down(*f, now_);
        break;
      default:
        source_->abandon(*f, now_);
    }
    flush();
  }

  void set_budget(size_t arg) {
    constexpr std::array kBudgets{0.0, 1e-12, 1e-6, 1e-3, 0.5, 1.0, 2.0, 1e3, 1e9};
    const double budget = kBudgets[arg % kBudgets.size()];
    if (budget < source_->ledger().budget()) lowered_ = true;
    source_->set_budget(Budget(budget));
  }

  void advance(Nanos end) {
    for (int n = 0; n < 48 && going(); ++n) {
      const Nanos next = lcore_.wheel.next_deadline();
      if (next > end) break;
      now_ = std::max(now_, next);
      poll();
    }
    now_ = std::max(now_, end);
    poll();
  }

  void stall(Nanos time) {
    now_ += time;
    lcore_.last_stall_end = now_;
    poll();
  }

  void rounds(size_t n, Nanos trip) {
    for (size_t i = 0; i < n && going(); ++i) {
      advance(now_ + trip);
      answer_oldest(kSeen);
    }
  }

  void poll() {
    // As Sender::poll(); repeated, since a flow sends a few packets per poll.
    for (int n = 0; n < 4; ++n) {
      ++polls_;
      lcore_.wheel.foresee(now_, [](const Timer&) {});
      lcore_.wheel.advance(now_, 512, [this](Timer& timer) {
        source_->on_timer(lcore_.flows.owner_of(&timer), now_);
      });
      flush();
      if (lcore_.wheel.next_deadline() > now_) break;
    }
  }

  void flush() {
    tx_.flush(now_);
    machine->port.take([this](const rte_mbuf& m) { look_at(m); });
  }

  void look_at(const rte_mbuf& m) {
    const std::span<const uint8_t> frame(rte_pktmbuf_mtod(&m, const uint8_t*), m.data_len);
    wire::UdpFrame at;
    require(wire::locate_udp(frame, at) == wire::FrameError::kNone, "sent frames can be decoded");
    wire::Header h;
    const auto payload = frame.subspan(at.payload, at.payload_size);
    require(wire::decode(payload, h) == wire::HeaderError::kNone, "sent frames have a header");
    require(wire::is_request(h.kind), "a source sends requests");
    ++sent_;
    Seen& s = recent[last_++ % kSeen];
    if (last_ - oldest_ > kSeen) oldest_ = last_ - kSeen;
    s.flow = h.flow;
    s.kind = h.kind;
    s.sequence = h.sequence;
    s.timestamp = h.timestamp;
    s.port = wire::load_be16(frame.data() + at.udp + wire::kUdpSourceAt);
    std::memcpy(s.congestion.data(), payload.data() + wire::kHeaderSize,
                scheme_.protocol->header_size);
    s.place = static_cast<uint8_t>(std::min(peer_count_, kPeers - 1));  // the one that opens
    for (size_t i = 0; i < peer_count_; ++i)
      if (peers_[i].flow == h.flow) s.place = static_cast<uint8_t>(i);
    if (h.kind != Kind::kData || at.payload_size == h.length) return;
    Peer& p = peers_[s.place];
    if (p.flow != h.flow) return;  // its SYN, before it is in the list
    // As fast as the port and the application allow, plus the first packet and the last.
    p.data_bytes += at.datagram;
    const double most = p.most_rate * to_seconds(now_ - p.opened) * (1 + 1e-9) + 2.0 * p.packet;
    require(p.data_bytes <= most, "a flow is paced at the port's rate at most");
  }

  Seen* seen_at(size_t back) {
    if (last_ == 0) return nullptr;
    const size_t kept = std::min(last_, kSeen);
    return &recent[(last_ - 1 - back % kept) % kSeen];
  }

  [[nodiscard]] static uint32_t token_of(uint32_t flow) { return flow ^ 0x5eed5eed; }

  AckInfo answer_to(Seen& s) {
    Peer& p = peers_[s.place];
    if (s.kind == Kind::kData) p.receive(s.sequence);
    std::copy_n(s.congestion.begin(), kMaxCongestion, congestion_.begin());
    for (const Stamp& stamp : path_)
      if (stamp.at < scheme_.protocol->header_size)
        wire::store_f32(congestion_.data() + stamp.at, stamp.value);
    const Kind kind = s.kind == Kind::kSyn   ? Kind::kSynAck
                      : s.kind == Kind::kFin ? Kind::kFinAck
                                             : Kind::kAck;
    return {.kind = kind,
            .sequence = s.sequence,
            .acknowledgement = p.expected,
            .echo = s.timestamp,
            .token = token_of(s.flow),
            .congestion = congestion_.data()};
  }

  void tell(const Seen& s, const AckInfo& a) {
    source_->on_answer(s.flow, a, scheme_.protocol->id, s.port, now_);
    flush();
  }
  void answer(Seen* s) {
    if (s != nullptr) tell(*s, answer_to(*s));
  }
  void answer_oldest(size_t n) {
    const size_t end = std::min(last_, oldest_ + n);
    while (oldest_ < end) {
      Seen s = recent[oldest_++ % kSeen];
      answer(&s);
    }
  }
  void answer_spoilt() {
    if (oldest_ == last_) return;
    Seen s = recent[oldest_++ % kSeen];
    const AckInfo a = answer_to(s);
    input_.spoil({congestion_.data(), scheme_.protocol->header_size});
    tell(s, a);
  }
  void reset(Seen* s) {
    if (s == nullptr) return;
    AckInfo a = answer_to(*s);
    a.kind = Kind::kReset;
    tell(*s, a);
  }
  // Packets arrive whose answers get lost; the next answer acknowledges them, too.
  void acknowledge_silently(size_t n) {
    const size_t end = std::min(last_, oldest_ + n);
    for (; oldest_ < end; ++oldest_) {
      const Seen& s = recent[oldest_ % kSeen];
      if (s.kind == Kind::kData) peers_[s.place].receive(s.sequence);
    }
    Seen* s = seen_at(0);
    if (s == nullptr) return;
    Seen newest = *s;
    AckInfo a = answer_to(newest);
    // Ranges received beyond the first gap.
    const Peer& p = peers_[newest.place];
    std::array<wire::SeqRange, wire::kMaxRanges> ranges;
    size_t count = 0;
    for (uint32_t q = p.expected; q < kSequences && count < ranges.size();) {
      if (!p.received[q]) {
        ++q;
        if (q > p.expected + 200) break;
        continue;
      }
      ranges[count].begin = q;
      while (q < kSequences && p.received[q]) ++q;
      ranges[count++].end = q;
    }
    a.ranges = {ranges.data(), count};
    tell(newest, a);
  }

  void forge(Seen* s) {
    if (s == nullptr) return;
    AckInfo a = answer_to(*s);
    std::array<wire::SeqRange, wire::kMaxRanges> ranges;
    const uint8_t what = input_.byte();
    if ((what & 1) != 0) a.kind = static_cast<Kind>(1 + input_.below(7));
    if (wire::is_request(a.kind)) a.kind = Kind::kAck;  // a host reads those as requests
    if ((what & 2) != 0) a.sequence += input_.byte() - 128U;
    if ((what & 4) != 0) a.acknowledgement = (what & 8) != 0 ? input_.word() : input_.byte();
    if ((what & 16) != 0) a.echo += input_.byte() - 128U;
    if ((what & 32) != 0) a.token = input_.word();
    if ((what & 64) != 0) {
      const size_t n = 1 + input_.below(ranges.size());
      for (size_t i = 0; i < n; ++i) {
        const uint32_t begin =
            input_.byte() < 250 ? a.acknowledgement + input_.byte() : input_.word();
        ranges[i] = {begin, begin + input_.byte() - 16U};
      }
      a.ranges = {ranges.data(), n};
    }
    if ((what & 128) != 0) input_.spoil({congestion_.data(), scheme_.protocol->header_size});
    tell(*s, a);
  }

  void check() {
    // Flows return excess budget in time when budgets fall. Under the paper's law a return that was
    // lost leaves the host above its budget once another flow was promised the amount.
    const bool bounded =
        !lowered_ && (scheme_.preset == kDefaultPreset || totals_.lost_packets.read() == 0);
    size_t records = 0;
    double committed = 0;
    lcore_.flows.for_each([&](Flow& f) {
      require(f.timer.armed(), "an open flow has a timer");
      require(f.timer.deadline() <= std::min({f.send_at, f.recover_at, f.timeout_at()}),
              "a flow's timer fires when something is due");
      uint64_t data = 0;
      for (const RecordList* list : {&f.in_flight, &f.lost}) {
        uint64_t sum = 0;
        for (uint32_t i = list->head(); i != kNoRecord; i = lcore_.records[i].next) {
          const SentPacket& r = lcore_.records[i];
          sum += r.size;
          ++records;
          data += r.kind == Kind::kData ? 1 : 0;
          require(r.sent <= now_, "nothing is sent in the future");
        }
        require(sum == (list == &f.in_flight ? f.in_flight_bytes : f.lost_bytes),
                "bytes in flight and lost add up");
      }
      require(f.delivered_packets + data == f.next_sequence, "every packet has one fate");
      require(f.acknowledged <= f.next_sequence, "nothing is acknowledged that was not sent");
      require(f.rtt.latest() >= Nanos(0) && f.rtt.smoothed() >= Nanos(0), "time goes forwards");
      const Allowance& allowed = f.allowance;
      const double rate = f.pacer.rate(), promised = allowed.committed;
      require(rate >= 0 && rate <= line_, "a pace is a number within the port's rate");
      require(f.stage == Stage::kOpening || rate > 0, "an open flow has a pace");
      require(std::isfinite(allowed.price) && allowed.price >= 0, "a price is a number");
      require(std::isfinite(allowed.granted), "a budget is a number");
      require(std::isfinite(promised), "a promise is a number");
      require(!std::isnan(allowed.window), "a window is a number");
      committed += promised;
      if (!shared_ && bounded)
        require(promised <= source_->ledger().budget() * (1 + 1e-5) + 1e-15,
                "a flow promises no more than its budget");
    });
    require(records + lcore_.records.free() == kRecords, "records are in one list each");
    const Ledger& ledger = source_->ledger();
    require(std::isfinite(ledger.committed()), "the promise is a number");
    if (shared_ && bounded)
      require(ledger.committed() <= ledger.budget() * (1 + 1e-5) + 1e-15,
              "a host promises no more than its budget");
    const double spend = totals_.spend.load(), floor = totals_.unbudgeted_spend.load();
    require(std::isfinite(spend) && spend >= 0, "the spending is a number");
    require(std::isfinite(floor) && floor >= 0, "the floor is a number");
  }

  void end() {
    lcore_.flows.for_each([&](Flow& f) { source_->abandon(f, now_); });
    machine->port.room = SIZE_MAX;
    flush();
    require(lcore_.flows.open_flows() == 0, "all flows are closed");
    require(lcore_.records.free() == kRecords, "all records came back");
    require(lcore_.wheel.next_deadline() == kNever, "no timer is left");
    require(source_->ledger().committed() == 0, "nothing is promised any more");
    require(lcore_.groups[0].open_flows == 0 && lcore_.groups[0].active_flows.load() == 0 &&
                lcore_.groups[0].committed.load() == 0,
            "a group's figures are back at zero");
    require(totals_.active_flows.load() == 0, "no flow is active");
    const uint64_t known = totals_.acked_packets.read();
    require(known + totals_.retransmitted_packets.read() <= totals_.sent_packets.read() + known,
            "retransmitted packets have been sent");
    require(known <= totals_.sent_packets.read(), "acknowledged packets have been sent");
    machine->outcomes.ended = 0;
  }

  static constexpr size_t kPeers = 16;
  struct Stamp {
    size_t at = SIZE_MAX;
    float value = 0;
  };

  Input& input_;
  LcoreState& lcore_;
  TxBuffer tx_;
  Scheme scheme_;
  HostTotals totals_;
  Delays delays_;
  std::optional<Source> source_;
  std::array<FlowClass, kKinds> kinds_;
  Nanos now_ = machine->now;
  double line_ = 0;
  bool shared_ = true, lowered_ = false;
  std::array<Stamp, 2> path_{};  // written by the path into every header
  std::array<Peer, kPeers> peers_;
  size_t peer_count_ = 0;
  size_t oldest_ = 0, last_ = 0, sent_ = 0, polls_ = 0;
  std::array<uint8_t, kMaxCongestion> congestion_{};
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  machine = new Machine;  // as long as the process
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  machine->next_turn();
  Input input(data, size);
  {
    Play play(input);
    play.run();
    machine->now = play.now();
  }
  machine->port.clear();
  require(machine->bench->pool.in_use() == 0, "every buffer came back");
  return 0;
}
