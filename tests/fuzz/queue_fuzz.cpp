// SPDX-License-Identifier: BSD-3-Clause
// A router's links under any law: queues by class, a shaped link and one at line rate, ports that
// take only some packets, an exhausted packet pool, one worker or two, and stalls. Checks: every
// packet is accounted for after every poll, limits of bytes hold, the shaped link never exceeds its
// rate, one class and worker keep packets in order, and every buffer is freed.
//
// The input: a byte for the scheme, three for workers, rate and buffer, then steps. A step's first
// byte: bits 0-2 the action, the others counts and indices.
#include <atomic>
#include <optional>

#include "common/wire/checksum.h"
#include "common/wire/frame_builder.h"
#include "router/datapath/worker.h"
#include "tests/fuzz/bench.h"
#include "tests/fuzz/scheme.h"
#include "tests/support/router_topology.h"

namespace {

using namespace turnpike;
using namespace turnpike::fuzz;
using namespace turnpike::router;
using test::kLeft;
using test::kLinks;
using test::kNarrow;
using test::kRight;

constexpr unsigned kMaxWorkers = 2;
constexpr size_t kMaxSteps = 64, kMaxPackets = 300, kMaxPolls = 120;
constexpr uint32_t kSlots = 63;  // of a hand-off
constexpr uint32_t kMtu = 1500;

wire::FrameTemplate template_to(size_t link, uint8_t ecn) {
  wire::FrameSpec spec;
  spec.source_mac = test::host_mac(kLeft);
  spec.destination_mac = test::router_mac(kLeft);
  spec.addresses =
      wire::Ipv4Pair{0x0a000102U, 0x0a000002U + (static_cast<uint32_t>(link + 1) << 8)};
  spec.source_port = 49152;
  spec.destination_port = wire::kDefaultUdpPort;
  spec.traffic_class = ecn;
  return wire::FrameTemplate(spec);
}

/// State that all runs share.
struct Machine {
  Machine() {
    auto made = Tables::build(topology, 0, -1);
    require(made.has_value(), "tables are built");
    tables = std::move(*made);
    current = tables.get();
    routes = &tables->routes();
  }
  config::Topology topology = test::topology();
  std::unique_ptr<Bench> bench = set_up("queue_fuzz", 255, 0);
  std::unique_ptr<const Tables> tables;
  std::atomic<const Tables*> current{nullptr};
  std::atomic<const Routes*> routes{nullptr};
  std::array<std::array<Port, kMaxWorkers>, kLinks> ports;
  std::array<std::array<wire::FrameTemplate, 2>, kLinks> templates{
      {{template_to(kLeft, 0), template_to(kLeft, 2)},
       {template_to(kRight, 0), template_to(kRight, 2)},
       {template_to(kNarrow, 0), template_to(kNarrow, 2)}}};
};
Machine* machine;

class Play {
 public:
  explicit Play(Input& input) : input_(input), scheme_(input.byte()) {
    const uint8_t how = input.byte(), fast = input.byte(), room = input.byte();
    workers_ = 1 + (how & 1);
    slack_ = (how & 2) != 0 ? 64_ms : Nanos(0);
    leave_ = (how & 4) != 0;
    constexpr std::array kRates{1e6, 8e6, 1e8, 1e10};  // bit/s
    constexpr std::array kBuffers{1500, 4500, 30'000, 10'000'000};
    const std::array laws{false, (how & 8) == 0, (how & 16) != 0};
    const std::array drains{config::Drain::kLineRate,
                            (how & 32) == 0 ? config::Drain::kShaped : config::Drain::kLineRate,
                            (how & 64) != 0 ? config::Drain::kShaped : config::Drain::kLineRate};
    std::vector<EgressLink*> links;
    std::vector<uint32_t> full;
    for (size_t l = 0; l < kLinks; ++l) {
      config::Link link = machine->topology.links[l];
      config::Direction& d = link.directions[0];
      d.rate = BitRate(l == kLeft ? 1e10 : kRates[fast >> (l * 2) & 3]);
      d.buffer = Bytes(l == kLeft ? 30'000 : kBuffers[room >> (l * 2) & 3]);
      d.drain = drains[l];
      d.law = {};
      if (laws[l]) d.law = {std::string(scheme_.protocol->name), scheme_.link()};
      EgressLink& e = links_[l].emplace(link, 0, workers_, 1);
      // If bit 7 is set, the second worker has no queue at the links that it sends to.
      ports_[l][0] = &machine->ports[l][0];
      ports_[l][1] = l != kLeft && (how & 128) != 0 ? nullptr : &machine->ports[l][1];
      for (unsigned w = 0; w < workers_; ++w) {
        if (e.drain == config::Drain::kLineRate && ports_[l][w] != nullptr) continue;
        e.ring[w] = LinkRing::make(kSlots, -1, e.traits.classes);
        require(e.ring[w] != nullptr, "there is memory for a hand-off");
      }
      links.push_back(&e);
      full.push_back(static_cast<uint32_t>(std::clamp<int64_t>(e.buffer / kMtu, 4, 64)));
    }
    for (unsigned w = 0; w < workers_; ++w) {
      Worker::Parts parts;
      parts.index = w;
      parts.pool = machine->bench->pool.get();
      parts.counters = &counters_[w];
      parts.tables = &machine->current;
      parts.routes = &machine->routes;
      parts.links = links;
      for (const auto& at : ports_) parts.ports.push_back(at[w]);
      parts.slack = slack_;
      parts.errors = {1000, 10};
      if ((room & 1) != 0) parts.buffers = BufferShare(parts.pool, full, 32);
      all_[w].emplace(parts);
    }
    law_ = scheme_.protocol->make_flow_law(scheme_.flow(), law_storage_);
    law_->set_target(Budget(1));
    const FlowState state = flow_state();
    PacketNote note;
    std::array<uint8_t, kHeader> header{};
    static_cast<void>(law_->write_syn(state, kMtu, header.data(), note));
    static_cast<void>(law_->on_syn_ack(state, note, header.data()));
  }
  ~Play() { law_->~FlowLaw(); }
  Play(const Play&) = delete;
  Play& operator=(const Play&) = delete;

  void run() {
    for (size_t step = 0; step < kMaxSteps && !input_.empty() && going(); ++step)
      act(input_.byte());
    for (auto& at : machine->ports)
      for (Port& p : at) p.room = SIZE_MAX;
    for (int n = 0; n < 40 && leave_ && held() > 0; ++n) {
      now_ += 20_ms;
      poll();
    }
    for (unsigned w = 0; w < workers_; ++w) all_[w]->discard();
    require(held() == 0, "nothing is held in the end");
    check_sum();
  }

 private:
  [[nodiscard]] bool going() const { return made_ < kMaxPackets && polls_ < kMaxPolls; }

  static constexpr size_t kHeader = 64;

  [[nodiscard]] FlowState flow_state() const {
    return {.now = now_,
            .rtt = 20_ms,
            .smoothed_rtt = 20_ms,
            .packet_size = kMtu,
            .line = 1.25e7,
            .headroom = 1};
  }

  void act(uint8_t b) {
    const size_t link = (b & 16) != 0 ? kNarrow : kRight;
    const unsigned worker = (b >> 3 & 1) % workers_;
    switch (b & 7) {
      case 0:
        return arrive(link, worker, 1 + (b >> 5));
      case 1:
        return arrive(link, worker, 8 * (1U + (b >> 5)));
      case 2:
        now_ += input_.time();
        poll();
        return;
      case 3:
        poll_one(worker);
        return;
      case 4:
        return run_for(input_.time());
      case 5:
        return stall(input_.time());
      case 6:
        machine->ports[link][worker].room = b >> 5 == 7 ? SIZE_MAX : b >> 5;
        return;
      default:
        now_ += 10_us;
        poll();
    }
  }

  void arrive(size_t link, unsigned worker, unsigned count) {
    const uint8_t shape = input_.byte();
    constexpr std::array<uint16_t, 8> kDatagrams{0, 100, 300, 576, 1000, 1280, 1400, 1500};
    constexpr std::array kSenders{wire::Kind::kData, wire::Kind::kData, wire::Kind::kSyn,
                                  wire::Kind::kAck};
    const wire::FrameTemplate& headers = machine->templates[link][shape >> 5 & 1];
    const Protocol& protocol = *scheme_.protocol;
    std::array<uint8_t, 128> frame{};
    uint8_t* payload = frame.data() + headers.headers_size();
    const uint16_t length = wire::header_length(protocol.header_size, 0);
    const wire::Kind kind = kSenders[shape >> 3 & 3];
    uint8_t* congestion = payload + wire::kHeaderSize;
    PacketNote note;
    if (kind == wire::Kind::kSyn) {
      static_cast<void>(law_->write_syn(flow_state(), kMtu, congestion, note));
    } else {
      static_cast<void>(law_->write_data(flow_state(), kMtu, congestion, note));
    }
    if ((shape & 128) != 0) input_.spoil({congestion, protocol.header_size});
    const auto least = static_cast<uint16_t>(headers.ip_headers_size() + length);
    const uint16_t datagram = std::max(kDatagrams[shape & 7], least);
    for (unsigned n = 0; n < count && made_ < kMaxPackets; ++n) {
      rte_mbuf* m = take_buffer(machine->bench->pool.get());
      if (m == nullptr) return;
      // Bit 6: another UDP port, so that the packet belongs to no flow.
      const uint64_t sum = wire::encode({.kind = kind,
                                         .protocol = protocol.id,
                                         .length = length,
                                         .flow = shape,
                                         .sequence = static_cast<uint32_t>(++made_)},
                                        payload);
      headers.write(frame.data(), datagram,
                    sum + wire::sum_words({congestion, protocol.header_size}));
      if ((shape & 64) != 0) wire::store_be16(frame.data() + 14 + wire::kIpv4Size + 2, 9);
      std::memcpy(rte_pktmbuf_mtod(m, uint8_t*), frame.data(), 14U + least);
      m->data_len = static_cast<uint16_t>(headers.frame_size(datagram));
      m->pkt_len = m->data_len;
      if (!machine->ports[kLeft][worker].put(m)) {
        rte_pktmbuf_free(m);
        return;
      }
    }
  }

  Nanos poll_one(unsigned w) {
    ++polls_;
    const Nanos next = all_[w]->poll(now_);
    require(next >= now_, "a deadline does not lie in the past");
    check();
    return next;
  }
  Nanos poll() {
    Nanos next = kNever;
    for (unsigned w = 0; w < workers_; ++w) next = std::min(next, poll_one(w));
    return next;
  }
  void run_for(Nanos span) {
    const Nanos end = now_ + span;
    for (int n = 0; n < 16 && going(); ++n) {
      const Nanos next = poll();
      if (next > end) break;
      now_ = std::max(now_, next);
    }
    now_ = std::max(now_, end);
    poll();
  }
  void stall(Nanos span) {
    const Nanos since = now_;
    now_ += span;
    stalled_ += span;
    for (unsigned w = 0; w < workers_; ++w) all_[w]->stall(since, now_);
    poll();
  }

  [[nodiscard]] uint64_t held() const {
    uint64_t n = 0;
    for (const auto& link : links_) n += link->held();
    return n;
  }

  void check_sum() {
    uint64_t received = 0, forwarded = 0, dropped = 0, made = 0, delivered = 0;
    for (const auto& link : links_) {
      for (const LinkShard& s : link->shards) {
        received += s.rx_packets.read();
        forwarded += s.tx_packets.read();
        for (const metrics::Counter& d : s.drops) dropped += d.read();
        require(s.out_packets.read() <= s.in_packets.read() || workers_ > 1,
                "no more leave a queue than came");
      }
    }
    for (const WorkerCounters& c : counters_) {
      made += c.originated.read();
      delivered += c.delivered.read();
    }
    require(received + made == forwarded + delivered + dropped + held(),
            "every packet is accounted for");
  }

  void check() {
    check_sum();
    for (size_t l = 0; l < kLinks; ++l) {
      const EgressLink& link = *links_[l];
      const bool shaped = link.drain == config::Drain::kShaped;
      const double missed = to_seconds(stalled_) * link.capacity;
      // Each class has the whole buffer, and packets that a port has not taken count for none.
      const double most = static_cast<double>(link.buffer) * link.traits.classes +
                          (link.traits.classes > 1 ? PortTx::kSlots * kMtu * workers_ : 0U) +
                          missed;
      require(static_cast<double>(link.queued()) <= most, "a buffer's limit holds");
      double classes = 0;
      for (unsigned c = 0; c < link.traits.classes && link.traits.classes > 1; ++c)
        classes += link.queued_of(c);
      require(link.traits.classes == 1 || classes <= static_cast<double>(link.queued()),
              "classes hold no more than their link");
      uint64_t sent = 0;
      for (const LinkShard& s : link.shards) sent += s.tx_bytes.read();
      require(!shaped || static_cast<double>(sent) <=
                             link.capacity * to_seconds(now_ - kStart + slack_) + kMtu + 1,
              "a shaped link is never faster than its rate");
      if (link.law) {
        std::array<Gauge, LinkLaw::kMaxGauges> gauges;
        const size_t n = link.law->gauges(gauges);
        for (size_t i = 0; i < n; ++i) require(!std::isnan(gauges[i].value), "gauges are numbers");
      }
      for (unsigned w = 0; w < workers_; ++w) {
        machine->ports[l][w].take([&](const rte_mbuf& m) { look_at(m, l); });
      }
    }
  }

  void look_at(const rte_mbuf& m, size_t link) {
    const std::span<const uint8_t> frame(rte_pktmbuf_mtod(&m, const uint8_t*), m.data_len);
    wire::UdpFrame at;
    require(m.nb_segs == 1 && m.pkt_len == m.data_len, "a packet leaves in one piece");
    if (wire::locate_udp(frame, at) != wire::FrameError::kNone) return;  // an ICMP error
    if (workers_ > 1 || links_[link]->traits.classes > 1) return;
    const uint32_t number = wire::load_be32(frame.data() + at.payload + wire::kSequenceAt);
    require(number > last_[link], "one worker's packets of one class stay in order");
    last_[link] = number;
  }

  static constexpr Nanos kStart{1'000'000'000};

  Input& input_;
  Scheme scheme_;
  unsigned workers_ = 1;
  Nanos slack_{0}, now_ = kStart, stalled_{0};
  bool leave_ = false;
  std::array<std::optional<EgressLink>, kLinks> links_;
  std::array<std::array<QueuePair*, kMaxWorkers>, kLinks> ports_{};
  std::array<WorkerCounters, kMaxWorkers> counters_;
  std::array<std::optional<Worker>, kMaxWorkers> all_;
  alignas(64) std::array<std::byte, FlowLaw::kMaxBytes> law_bytes_;
  void* law_storage_ = law_bytes_.data();
  FlowLaw* law_ = nullptr;
  size_t made_ = 0, polls_ = 0;
  std::array<uint32_t, kLinks> last_{};
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  machine = new Machine;  // lives as long as the process
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  {
    Play play(input);
    play.run();
  }
  for (auto& at : machine->ports)
    for (Port& p : at) p.clear();
  require(machine->bench->pool.in_use() == 0, "every buffer came back");
  return 0;
}
