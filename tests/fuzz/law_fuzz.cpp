// SPDX-License-Identifier: BSD-3-Clause
// Every scheme's laws at a link, at its flows and at their receiver, alone or in a loop: headers
// that flows write and any others, in bursts, by two lcores whose clocks differ, with late, lost or
// changed answers, time-outs, pauses and stalls. Checks: no undefined behaviour; prices, rates,
// promises and gauges stay numbers within their bounds; every packet that is not refused is stamped
// with a number.
//
// The input: a byte for the scheme, one for the link, then steps. A step's first byte: bits 0-3 the
// action, 4-5 the flow, 6-7 a count or an index.
#include <optional>

#include "common/protocols/fcp/header.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/scheme.h"

namespace {

using namespace turnpike;
using namespace turnpike::fuzz;

constexpr size_t kMaxHeader = 64, kFlows = 4, kMaxSteps = 96, kMaxPackets = 192;
constexpr size_t kUnderWay = 32;  // packets of a flow
constexpr unsigned kShards = 2, kMaxBurst = 16;
constexpr std::array<uint32_t, 4> kSizes{64, 84, 1500, 9000};

/// A packet on its way, or its answer.
struct Packet {
  std::array<uint8_t, kMaxHeader> header;
  PacketNote note;
  uint32_t size = 0;
  bool opens = false;
  Nanos sent{0};
};

/// A flow with its law, and that of its receiver.
struct Flow {
  alignas(64) std::array<std::byte, FlowLaw::kMaxBytes> storage;
  alignas(8) std::array<std::byte, ReceiverLaw::kMaxBytes> receiver_storage;
  FlowLaw* law = nullptr;
  Allowance allowance;  // law's newest
  ReceiverLaw* receiver = nullptr;
  bool open = false;  // the handshake is over
  Nanos rtt{0}, smoothed{0};
  std::array<Packet, kUnderWay> packets;
  size_t first = 0, last = 0;  // under way
  double in_flight = 0;

  Packet& push() { return packets[last++ % kUnderWay]; }
  [[nodiscard]] bool full() const { return last - first == kUnderWay; }
  [[nodiscard]] bool empty() const { return last == first; }
};
std::array<Flow, kFlows> flows;  // their memory stays warm

class Play {
 public:
  explicit Play(Input& input) : input_(input), scheme_(input.byte()) {
    const uint8_t how = input.byte();
    constexpr std::array kCapacities{1.25e5, 1.25e6, 1.25e7, 1.25e9};  // B/s
    capacity_ = kCapacities[how & 3];
    buffer_ = (how & 4) != 0 ? 3000 : capacity_ / 10;
    shards_ = (how & 0x18) == 0x18 ? kShards : 1;
    link_ = scheme_.protocol->make_link_law(scheme_.link(), shards_, how);
    const ParamValues params = scheme_.flow();
    for (Flow& f : flows) {
      f.law = scheme_.protocol->make_flow_law(params, f.storage.data());
      f.receiver = scheme_.protocol->make_receiver_law == nullptr
                       ? nullptr
                       : scheme_.protocol->make_receiver_law(f.receiver_storage.data());
      f.open = false;
      f.rtt = f.smoothed = Nanos(0);
      f.first = f.last = 0;
      f.in_flight = 0;
      f.law->set_target(Budget(1));
    }
    due_ = link_->update(state(), now_);
  }
  ~Play() {
    for (Flow& f : flows) {
      f.law->~FlowLaw();
      if (f.receiver != nullptr) f.receiver->~ReceiverLaw();
    }
  }
  Play(const Play&) = delete;
  Play& operator=(const Play&) = delete;

  void run() {
    for (size_t n = 0; n < kMaxSteps && !input_.empty() && seen_ < kMaxPackets; ++n) {
      const uint8_t b = input_.byte();
      act(b, flows[b >> 4 & 3]);
      check_link();
    }
  }

 private:
  size_t header_size() const { return scheme_.protocol->header_size; }

  void act(uint8_t b, Flow& f) {
    const unsigned more = b >> 6;
    switch (b & 15) {
      case 0:
        return send(f, 1 + more);
      case 1:
        return send(f, 4 * (1 + more));
      case 2:
        return hostile(more);
      case 3:
        return pass(input_.time());
      case 4:
        return answer(f, 1 + more, false);
      case 5:
        return answer(f, kUnderWay, false);
      case 6:
        return answer(f, 1 + more, true);
      case 7:
        return lose(f, 1 + more);
      case 8:
        return time_out(f);
      case 9:
        if (f.open) f.allowance = f.law->on_pause(state_of(f), input_.time());
        return check(f);
      case 10:
        return set_target(f, more);
      case 11:
        // The lcores' clocks differ by the duration of one lcore's burst.
        ahead_ = input_.time() / 4096;
        return;
      case 12:
        return rounds(f, 2 + 2 * more, input_.time());
      case 13:
        return silent(f, 1 + more);
      case 14:
        headroom_ = more == 0 ? 1e9 : more == 1 ? 0.5 : more == 2 ? 0 : -1;
        return;
      default:
        queue_ = buffer_ * more;
    }
  }

  [[nodiscard]] LinkState state() const {
    return {.capacity = capacity_,
            .queue = queue_,
            .buffer = buffer_,
            .queues = {queue_ / 2, queue_ / 2}};
  }
  [[nodiscard]] FlowState state_of(const Flow& f) const {
    return {.now = now_,
            .rtt = f.rtt,
            .smoothed_rtt = f.smoothed,
            .answered_after = f.rtt,
            .packet_size = 1500,
            .in_flight = f.in_flight,
            .line = 1.25e8,
            .headroom = headroom_};
  }

  void pass(Nanos span) {
    now_ += span;
    queue_ = std::max(0.0, queue_ - to_seconds(span) * capacity_);
    for (int n = 0; n < 4 && due_ <= now_; ++n) {
      const Nanos next = link_->update(state(), now_);
      require(next > due_, "a control interval is longer than nothing");
      due_ = next > now_ ? next : now_ + 1_ms;
    }
  }

  // Passes a burst through the link; the receivers answer admitted packets.
  void meet_link(std::span<LinkPacket> burst, unsigned shard) {
    const Nanos now = shard == 1 ? now_ + ahead_ : now_;
    std::array<Nanos, kShards>& at = clocks_;
    at[shard] = std::max(at[shard], now);
    if (link_->traits().classes > 1) {
      for (LinkPacket& p : burst) {
        const unsigned c = link_->classify(p);
        require(c < link_->traits().classes, "a class is one of the link's");
        p.queue_class = static_cast<uint8_t>(c);
      }
      for (unsigned c = 0; c < link_->traits().classes; ++c)
        require(link_->weight(c) > 0, "every class has a share");
    }
    double room = buffer_ - queue_;
    for (LinkPacket& p : burst) {
      p.admitted = p.size <= room;
      if (p.admitted) room -= p.size;
    }
    seen_ += burst.size();
    const uint64_t refused = link_->arrive(shard, burst, state(), at[shard]);
    require(refused >> burst.size() == 0, "nothing is refused that was not there");
    std::array<LinkPacket, kMaxBurst> leaving;
    size_t n = 0;
    for (size_t i = 0; i < burst.size(); ++i) {
      LinkPacket& p = burst[i];
      if ((refused >> i & 1) != 0) p.admitted = false;
      if (link_->traits().marks_or_drops && p.action == AqmAction::kDrop) p.admitted = false;
      if (!p.admitted) continue;
      queue_ += p.size;
      if (p.header != nullptr && scheme_.protocol->id == fcp::kProtocolId) {
        const fcp::Header h = fcp::load(p.header);
        require(h.price > 0 && h.price <= fcp::kMaxPrice && fcp::credible_amount(h.reserve),
                "stamped fields are credible");
      }
      leaving[n++] = p;
    }
    if (n > 0 && link_->traits().wants_dequeue)
      link_->depart(shard, std::span(leaving.data(), n), state(), at[shard]);
  }

  void send(Flow& f, unsigned count) {
    std::array<LinkPacket, kMaxBurst> burst;
    std::array<Packet*, kMaxBurst> packets;
    unsigned n = 0;
    for (; n < std::min(count, kMaxBurst) && !f.full(); ++n) {
      if (!f.open && !f.empty()) break;  // one SYN
      if (f.open && f.allowance.probe) probe(f);
      Packet& p = f.push();
      p.size = f.open ? 1500 : 84;
      p.opens = !f.open;
      p.sent = now_;
      p.note = {};
      if (p.opens) {
        f.allowance.committed = f.law->write_syn(state_of(f), p.size, p.header.data(), p.note);
      } else if (input_.empty()) {
        f.allowance.committed = f.law->write_fin(state_of(f), p.size, p.header.data(), p.note);
      } else {
        f.allowance.committed = f.law->write_data(state_of(f), p.size, p.header.data(), p.note);
      }
      f.in_flight += p.size;
      packets[n] = &p;
      burst[n] = {.header = p.header.data(), .size = p.size, .opens = p.opens, .flow = 1};
    }
    if (n == 0) return;
    meet_link({burst.data(), n}, 0);
    // Packets that the buffer refused are lost: the receiver does not answer them, and the sender
    // has not detected it yet.
    for (unsigned i = 0; i < n; ++i) {
      if (burst[i].admitted && f.receiver != nullptr && !packets[i]->opens)
        f.receiver->on_data(packets[i]->size, packets[i]->header.data(), now_);
    }
    check(f);
  }

  void probe(Flow& f) {
    std::array<uint8_t, kMaxHeader> header;
    require(f.receiver != nullptr, "only a protocol with a receiver's law has probes");
    f.law->write_probe(state_of(f), 84, header.data());
    f.allowance.probe = false;
    LinkPacket p{.header = header.data(), .size = 84, .flow = 1};
    meet_link({&p, 1}, 0);
    if (p.admitted) f.receiver->on_probe(header.data(), now_);
  }

  // Any headers, by either lcore: every field from the input, or a flow's header with some fields
  // changed.
  void hostile(unsigned more) {
    const uint8_t what = input_.byte();
    const unsigned n = 1 + (what >> 4 & 7);
    std::array<std::array<uint8_t, kMaxHeader>, 8> headers{};
    std::array<LinkPacket, 8> burst;
    for (unsigned i = 0; i < n; ++i) {
      const std::span header(headers[i].data(), header_size());
      if (more < 2 && !flows[0].empty())
        std::ranges::copy(flows[0].packets[0].header, headers[i].begin());
      if (more == 1 || more == 3) {
        input_.fill(header);
      } else if (i == 0 || more == 0) {
        input_.spoil(header);
      } else {
        headers[i] = headers[0];
      }
      burst[i] = {.header = (what & 1) != 0 ? nullptr : headers[i].data(),
                  .size = kSizes[what >> 1 & 3],
                  .opens = (what & 8) != 0};
    }
    meet_link({burst.data(), n}, (what >> 7) % shards_);
    // The receiver's law reads the headers, too.
    Flow& f = flows[3];
    if (f.receiver == nullptr) return;
    if ((what & 8) != 0) {
      f.receiver->on_probe(headers[0].data(), now_);
    } else {
      f.receiver->on_data(burst[0].size, headers[0].data(), now_);
    }
  }

  Packet& take(Flow& f) {
    Packet& p = f.packets[f.first++ % kUnderWay];
    f.in_flight = f.empty() ? 0 : f.in_flight - p.size;
    return p;
  }

  void answer(Flow& f, size_t n, bool spoilt) {
    for (size_t i = 0; i < n && !f.empty(); ++i) {
      const FlowState before = state_of(f);
      Packet& p = take(f);
      f.rtt = std::max(now_ - p.sent, 1_ns);
      f.smoothed = f.smoothed == Nanos(0) ? f.rtt : f.smoothed + (f.rtt - f.smoothed) / 8;
      FlowState s = state_of(f);
      s.in_flight = before.in_flight;
      if (spoilt) input_.spoil({p.header.data(), header_size()});
      if (p.opens) {
        const Opening opening = f.law->on_syn_ack(s, p.note, p.header.data());
        f.allowance = opening.allowance;
        f.open = true;
        require(opening.first_wait >= Nanos(0), "a flow does not begin in the past");
        require(opening.least_timeout > Nanos(0), "a time-out takes time");
      } else {
        f.allowance = f.law->on_ack(s, p.note, p.header.data());
      }
      check(f);
    }
  }
  void silent(Flow& f, size_t n) {
    for (size_t i = 0; i < n && f.open && !f.empty(); ++i) {
      const FlowState s = state_of(f);
      f.allowance = f.law->on_ack_without_feedback(s, take(f).note);
    }
    check(f);
  }
  void lose(Flow& f, size_t n) {
    for (size_t i = 0; i < n && !f.empty(); ++i) {
      const FlowState s = state_of(f);
      f.allowance = f.law->on_loss(s, take(f).note);
    }
    check(f);
  }
  void time_out(Flow& f) {
    if (f.empty()) return;
    f.allowance = f.law->on_timeout(state_of(f));
    lose(f, kUnderWay);
  }
  void set_target(Flow& f, unsigned more) {
    constexpr std::array kTargets{0.0, 1e-9, 1.0, 1e9};
    f.law->set_target(Budget(kTargets[more]));
  }
  void rounds(Flow& f, unsigned n, Nanos trip) {
    for (unsigned i = 0; i < n && seen_ < kMaxPackets; ++i) {
      send(f, 3);
      pass(trip);
      answer(f, kUnderWay, false);
    }
  }

  void check(const Flow& f) {
    const Allowance& a = f.allowance;
    require(std::isfinite(a.price) && a.price >= 0, "a price is a number");
    require(std::isfinite(a.granted), "a budget is a number");
    require(std::isfinite(a.committed), "a promise is a number");
    if (!f.open) return;  // a rate needs a round trip
    require(!std::isnan(a.rate), "a rate is a number");
    require(a.floor > 0 && !std::isnan(a.floor), "the least rate is a number");
    require(std::max(a.rate, a.floor) > 0, "a flow sends");
    require(a.window > 0, "a window is a number");
  }
  void check_link() {
    std::array<Gauge, LinkLaw::kMaxGauges> gauges;
    const size_t n = link_->gauges(gauges);
    require(n <= gauges.size(), "there is room for all gauges");
    for (size_t i = 0; i < n; ++i) require(!std::isnan(gauges[i].value), "gauges are numbers");
  }

  Input& input_;
  Scheme scheme_;
  double capacity_ = 0, buffer_ = 0, queue_ = 0, headroom_ = 1;
  unsigned shards_ = 1;
  std::unique_ptr<LinkLaw> link_;
  Nanos now_{0}, due_{0}, ahead_{0};
  std::array<Nanos, kShards> clocks_{};
  size_t seen_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  Input input(data, size);
  Play(input).run();
  return 0;
}
