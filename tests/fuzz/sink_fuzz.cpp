// SPDX-License-Identifier: BSD-3-Clause
// Sequences of requests into a host as a sink: valid tokens, invalid tokens, repeated packets, in
// any order and at any time. Checks: it keeps no more state than its capacity and none for a SYN
// alone, counts every frame once, and acknowledges only packets that were sent.
//
// The input: a byte for the sink's capacity and start time, then steps. A step's first byte: bits
// 0-2 the action, 3-4 one of four peers, 5 whether the sink is polled first, 6-7 the token: of the
// last SYN-ACK to the peer, none, any, or another peer's.
#include <optional>

#include "common/protocols/fcp/header.h"
#include "common/wire/checksum.h"
#include "common/wire/frame_builder.h"
#include "sender/host/host.h"
#include "tests/fuzz/bench.h"
#include "tests/fuzz/scheme.h"
#include "tests/support/sender_hosts.h"

namespace {

using namespace turnpike;
using namespace turnpike::fuzz;
using namespace turnpike::sender;
using wire::Kind;

constexpr size_t kPeers = 4, kMaxFrames = 96, kMaxSteps = 192;
constexpr size_t kMaxFrame = 256;

class NoOutcomes final : public OutcomeSink {
  void flow_ended(const FlowOutcome&) override { require(false, "a sink has no flows of its own"); }
};

wire::FrameTemplate peer_template(const config::Topology& t, size_t peer) {
  wire::FrameSpec spec;
  spec.source_mac = t.links[0].ends[0].mac;
  spec.destination_mac = t.links[0].ends[1].mac;
  const config::Interface &from = t.links[0].ends[0], &to = t.links[0].ends[1];
  if (peer == 3) {
    spec.addresses = wire::Ipv6Pair{from.ipv6.address, to.ipv6.address};
  } else {
    spec.addresses = wire::Ipv4Pair{from.ipv4.address, to.ipv4.address};
  }
  if (peer == 2) spec.vlan = 7;
  spec.source_port = Paths::source_port(peer == 1 ? 1 : 0);
  spec.destination_port = t.run.udp_port;
  return wire::FrameTemplate(spec);
}

/// State that all runs share.
struct Machine {
  config::Topology topology = sender::testing::two_hosts();
  std::unique_ptr<Bench> bench = set_up("sink_fuzz", 511);
  NoOutcomes outcomes;
  LcoreState lcore{{.size = {.flows = 1, .records = 1},
                    .pool = bench->pool.get(),
                    .outcomes = outcomes,
                    .populated = false}};
  std::array<wire::FrameTemplate, kPeers> templates{
      peer_template(topology, 0), peer_template(topology, 1), peer_template(topology, 2),
      peer_template(topology, 3)};
  Port port;
};
Machine* machine;

/// Packets sent so far, by the flow that a frame names.
struct Sent {
  struct Data {
    size_t key;
    uint32_t sequence;
  };
  std::array<FlowKey, kMaxFrames> keys;
  std::array<uint32_t, kMaxFrames> distinct{};  // data packets, by key
  std::array<Data, kMaxFrames> data;
  size_t key_count = 0, data_count = 0;
  uint64_t bytes = 0;

  size_t key_of(const FlowKey& key) {
    for (size_t i = 0; i < key_count; ++i)
      if (keys[i].words() == key.words()) return i;
    keys[key_count] = key;
    return key_count++;
  }
  void note(const FlowKey& key, uint32_t sequence, uint32_t datagram) {
    bytes += datagram;
    const size_t k = key_of(key);
    for (size_t i = 0; i < data_count; ++i)
      if (data[i].key == k && data[i].sequence == sequence) return;
    data[data_count++] = {k, sequence};
    ++distinct[k];
  }
};

struct Frame {
  std::array<uint8_t, kMaxFrame> bytes;
  uint16_t size = 0;
  uint8_t peer = 0;
  // The decoded header, where the frame is readable.
  bool readable = false;
  wire::Header header;
  FlowKey key;
};

std::array<Frame, kMaxFrames> recent;  // of this run

class Play {
 public:
  Play(Input& input, Port& port) : input_(input), port_(port) {
    const uint8_t first = input.byte();
    const SinkParts room{
        .flows = 8, .runs = size_t{1} << (first & 7), .populated = false, .secret = {first, 17}};
    // Starts near the end of a token's life, before 32-bit ticks wrap, or at 0.
    constexpr std::array<int64_t, 4> kStarts{0, (int64_t{1} << 35) - 1000,
                                             (int64_t{1} << 38) - 1000000, int64_t{1} << 50};
    now_ = Nanos(kStarts[first >> 3 & 3]);
    auto made = Host::make(machine->topology, 1, port, machine->lcore, room);
    require(made.has_value(), "a host is made");
    host_ = std::move(*made);
  }

  void run() {
    for (size_t step = 0; step < kMaxSteps && !input_.empty() && frames_ < kMaxFrames; ++step) {
      const uint8_t what = input_.byte();
      if ((what & 32) != 0) poll();
      act(what);
    }
    poll();
    const HostTotals& t = host_->totals();
    const uint64_t counted = t.received_packets.read() + t.duplicate_packets.read() +
                             t.refused_packets.read() + t.unknown_flows.read() +
                             t.forged_packets.read() + t.bad_packets.read() +
                             t.foreign_packets.read() + t.answered_neighbours.read() +
                             t.out_of_buffers.read() + t.queue_full.read() + uncounted_;
    require(counted <= frames_ && frames_ <= counted + probes_, "every frame is counted once");
    require(acks_ == t.received_packets.read() + t.duplicate_packets.read(),
            "acknowledged packets have been received");
    require(t.received_bytes.read() <= sent_.bytes, "no more is received than was sent");
    require(t.sent_packets.read() + t.duplicate_acks.read() + t.resets.read() == 0,
            "a sink sends nothing by itself");
  }

 private:
  void act(uint8_t what) {
    const size_t peer = what >> 3 & 3;
    switch (what & 7) {
      case 0:
        return request(Kind::kSyn, peer, what >> 6);
      case 1:
      case 2:
        return request(Kind::kData, peer, what >> 6);
      case 3:
        return request(Kind::kFin, peer, what >> 6);
      case 4:
        if (frames_ > 0) again(recent[input_.below(frames_)]);
        return;
      case 5:
        now_ += input_.time();
        return poll();
      case 6:
        return request(static_cast<Kind>(1 + input_.below(7)), peer, what >> 6);
      default:
        return spoilt();
    }
  }

  uint32_t token(size_t peer, unsigned which) {
    switch (which) {
      case 0:
        return tokens_[peer];
      case 1:
        return 0;
      case 2:
        return input_.word();
      default:
        return tokens_[(peer + 1) % kPeers];
    }
  }

  uint32_t sequence(size_t peer) {
    const uint8_t b = input_.byte();
    if (b < 128) return next_[peer] = next_[peer] + (b & 7) - 1 + (b == 127 ? 500 : 0);
    if (b < 250) return b - 128U;
    return input_.word();
  }

  void request(Kind kind, size_t peer, unsigned which_token) {
    Frame& f = recent[frames_];
    const uint8_t shape = input_.byte();
    const Scheme scheme(shape & 15);
    const size_t congestion = scheme.protocol->header_size;
    const uint16_t length = wire::header_length(congestion, 0);
    const size_t user = kind == Kind::kData ? shape >> 4 & 7 : 0;
    const wire::FrameTemplate& headers = machine->templates[peer];
    uint8_t* payload = f.bytes.data() + headers.headers_size();
    const uint64_t sum = wire::encode({.kind = kind,
                                       .protocol = scheme.protocol->id,
                                       .length = length,
                                       .flow = 0x1000 + static_cast<uint32_t>(peer),
                                       .sequence = sequence(peer),
                                       .acknowledgement = shape,
                                       .timestamp = static_cast<uint32_t>(frames_),
                                       .token = token(peer, which_token)},
                                      payload);
    std::memset(payload + wire::kHeaderSize, 0, congestion + user);
    if ((shape & 128) != 0) input_.spoil({payload + wire::kHeaderSize, congestion});
    const size_t datagram = headers.ip_headers_size() + length + user;
    headers.write(f.bytes.data(), static_cast<uint16_t>(datagram),
                  sum + wire::sum_words({payload + wire::kHeaderSize, congestion}));
    f.size = static_cast<uint16_t>(headers.frame_size(datagram));
    f.peer = static_cast<uint8_t>(peer);
    deliver(f);
  }

  void again(const Frame& old) {
    Frame& f = recent[frames_];
    std::memcpy(f.bytes.data(), old.bytes.data(), old.size);
    f.size = old.size;
    f.peer = old.peer;
    deliver(f);
  }

  // An earlier frame with some bytes changed or truncated, or random bytes.
  void spoilt() {
    Frame& f = recent[frames_];
    const uint8_t how = input_.byte();
    if (frames_ > 0 && how < 224) {
      const Frame& old = recent[input_.below(frames_)];
      std::memcpy(f.bytes.data(), old.bytes.data(), old.size);
      f.size = old.size;
      f.peer = old.peer;
      if (how < 16) {
        f.size = static_cast<uint16_t>(1 + input_.below(f.size));
      } else {
        for (unsigned n = 0; n <= (how & 3U); ++n) f.bytes[input_.below(f.size)] = input_.byte();
      }
    } else {
      f.size = static_cast<uint16_t>(1 + (how & 31) * 3);
      f.peer = 0;
      input_.fill({f.bytes.data(), f.size});
    }
    deliver(f);
  }

  void deliver(Frame& f) {
    rte_mbuf* m = take_buffer(machine->bench->pool.get());
    require(m != nullptr, "there are buffers");
    std::memcpy(rte_pktmbuf_mtod(m, uint8_t*), f.bytes.data(), f.size);
    m->data_len = f.size;
    m->pkt_len = f.size;
    m->ol_flags = kSumsChecked;  // so that a changed frame is not dropped for its checksum
    read(f);
    require(port_.put(m), "the port has room");
    ++frames_;
  }

  // Decodes the frame as the sink does.
  void read(Frame& f) {
    wire::UdpFrame at;
    const std::span<const uint8_t> bytes(f.bytes.data(), f.size);
    f.readable = wire::locate_udp(bytes, at) == wire::FrameError::kNone &&
                 wire::decode(bytes.subspan(at.payload, at.payload_size), f.header) ==
                     wire::HeaderError::kNone;
    if (!f.readable) return;
    f.key = {.flow = f.header.flow,
             .port = wire::load_be16(&f.bytes[at.udp + wire::kUdpSourceAt]),
             .ip_version = at.ipv6 ? uint16_t{6} : uint16_t{4}};
    const size_t source = at.ip + (at.ipv6 ? wire::kIpv6SourceAt : wire::kIpv4SourceAt);
    std::memcpy(f.key.source.data(), &f.bytes[source], at.ipv6 ? 16 : 4);
    if (f.header.kind != Kind::kData) return;
    sent_.note(f.key, f.header.sequence, at.datagram);
    if (at.payload_size == f.header.length) ++probes_;
  }

  void poll() {
    while (port_.waiting()) host_->receive(now_);
    host_->flush(now_);
    const uint32_t before = flows_;
    flows_ = host_->receiver().flows();
    require(flows_ <= 8 && flows_ <= sent_.key_count, "flows are those that sent data");
    require(flows_ <= before || sent_.data_count > 0, "a SYN alone is not remembered");
    port_.take([this](const rte_mbuf& m) { check_answer(m); });
  }

  void check_answer(const rte_mbuf& m) {
    const std::span<const uint8_t> frame(rte_pktmbuf_mtod(&m, const uint8_t*), m.data_len);
    wire::UdpFrame at;
    if (wire::locate_udp(frame, at) != wire::FrameError::kNone) {
      require(host_->totals().answered_neighbours.read() > 0, "an answer can be read");
      return;
    }
    wire::Header h;
    const auto payload = frame.subspan(at.payload, at.payload_size);
    require(wire::decode(payload, h) == wire::HeaderError::kNone, "an answer has a header");
    require(h.length == at.payload_size, "an answer has no payload");
    require(!wire::is_request(h.kind), "an answer is no request");
    // The timestamp identifies the frame that it answers, unless it was changed.
    if (h.kind == Kind::kSynAck || h.kind == Kind::kFinAck) ++uncounted_;
    if (h.kind == Kind::kAck) ++acks_;
    if (h.echo >= frames_) return;
    const Frame& asked = recent[h.echo];
    if (!asked.readable || asked.header.timestamp != h.echo) return;
    const uint8_t* ip = frame.data() + at.ip;
    FlowKey key{.flow = h.flow,
                .port = wire::load_be16(frame.data() + at.udp + wire::kUdpDestinationAt),
                .ip_version = at.ipv6 ? uint16_t{6} : uint16_t{4}};
    std::memcpy(key.source.data(),
                ip + (at.ipv6 ? wire::kIpv6DestinationAt : wire::kIpv4DestinationAt),
                at.ipv6 ? 16 : 4);
    if (h.kind == Kind::kSynAck) tokens_[asked.peer] = h.token;
    if (h.kind != Kind::kAck) return;
    const uint32_t distinct = sent_.distinct[sent_.key_of(key)];
    uint64_t acknowledged = h.acknowledgement;
    for (size_t i = 0; i < h.ranges; ++i) {
      const wire::SeqRange r = wire::load_range(h, payload.data(), i);
      require(r.end != r.begin && r.begin != h.acknowledgement, "ranges lie behind gaps");
      acknowledged += uint32_t{r.end - r.begin};
    }
    require(acknowledged <= distinct, "nothing is acknowledged that was not sent");
  }

  Input& input_;
  Port& port_;
  Nanos now_{0};
  std::unique_ptr<Host> host_;
  std::array<uint32_t, kPeers> tokens_{}, next_{};
  size_t frames_ = 0;
  Sent sent_;
  uint64_t probes_ = 0, acks_ = 0, uncounted_ = 0;
  uint32_t flows_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  machine = new Machine;  // as long as the process
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  {
    Play play(input, machine->port);
    play.run();
  }
  machine->port.clear();
  require(machine->bench->pool.in_use() == 0, "every buffer came back");
  return 0;
}
