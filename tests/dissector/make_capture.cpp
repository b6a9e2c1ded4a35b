// SPDX-License-Identifier: BSD-3-Clause
// Writes a capture with a frame of every kind, sound and broken, and prints one JSON object per
// frame: the fields that a dissector must find in it.
#include <bit>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/protocols/acc/header.h"
#include "common/protocols/explicit_rate/header.h"
#include "common/protocols/fcp/header.h"
#include "common/protocols/qcp/header.h"
#include "common/protocols/tcp/header.h"
#include "common/protocols/xcp/header.h"
#include "common/wire/bytes.h"
#include "common/wire/capture.h"
#include "common/wire/frame_builder.h"
#include "common/wire/turnpike_header.h"

namespace turnpike {
namespace {

using wire::Kind;
using Bytes = std::vector<uint8_t>;
using nlohmann::json;

wire::FrameSpec spec(bool ipv6, bool vlan, bool checksum = true) {
  wire::FrameSpec s{.source_mac = {2, 0, 0, 0, 0, 1},
                    .destination_mac = {2, 0, 0, 0, 0, 2},
                    .vlan = {},
                    .addresses = {},
                    .source_port = 50001,
                    .destination_port = wire::kDefaultUdpPort,
                    .udp_checksum = checksum};
  if (vlan) s.vlan = 42;
  if (ipv6) {
    s.addresses = wire::Ipv6Pair{{0xfd, 0, 1}, {0xfd, 0, 2}};
  } else {
    s.addresses = wire::Ipv4Pair{0x0a000001, 0x0a000002};
  }
  return s;
}

wire::Header header(Kind kind, uint8_t ranges = 0) {
  return {.kind = kind,
          .protocol = fcp::kProtocolId,
          .ranges = ranges,
          .length = wire::header_length(fcp::kHeaderSize, ranges),
          .flow = 0x89abcdef,
          .sequence = 4'000'000'000,
          .acknowledgement = 77,
          .timestamp = wire::is_request(kind) ? 15'625'000U : 0,  // 1 s
          .echo = wire::is_request(kind) ? 0 : 31'250'000U,
          .token = 0x89ab'cdef};
}

const fcp::Header kCredible{.rtt_ns = 20'000'000,
                            .price = 1e-18F,
                            .reserve = 3e-7F,
                            .age_ns = 30'000'000,
                            .preload = -1,
                            .balance = 8e-8F,
                            .exchange = 0.5F,
                            .charged = 7.5F,
                            .slot = 1e-4F,
                            .first = true};

Bytes payload_of(const wire::Header& h, const fcp::Header& congestion, size_t user_bytes = 0) {
  Bytes bytes(h.length + user_bytes, 0x55);
  wire::encode(h, bytes.data());
  fcp::store(congestion, bytes.data() + wire::kHeaderSize);
  for (uint32_t i = 0; i < h.ranges; ++i) {
    wire::store_range(h, bytes.data(), i, {100 - 10 * i, 105 - 10 * i});
  }
  return bytes;
}

/// Expected fields of a sound packet.
json fields_of(const wire::Header& h, const fcp::Header& c) {
  json f = {{"turnpike.version", wire::kVersion},
            {"turnpike.kind", static_cast<int>(h.kind)},
            {"turnpike.protocol", h.protocol},
            {"turnpike.ranges", h.ranges},
            {"turnpike.length", h.length / wire::kLengthUnit},
            {"turnpike.flow", h.flow},
            {"turnpike.seq", h.sequence},
            {"turnpike.ack", h.acknowledgement},
            {"turnpike.token", h.token},
            wire::is_request(h.kind) ? json{"turnpike.timestamp", h.timestamp}
                                     : json{"turnpike.echo", h.echo},
            {"turnpike.fcp.rtt", c.rtt_ns},
            {"turnpike.fcp.price", c.price},
            {"turnpike.fcp.exchange", c.exchange},
            {"turnpike.fcp.charged", c.charged}};
  const bool syn = h.kind == Kind::kSyn || h.kind == Kind::kSynAck;
  const auto put = [&](const char* on_syn, const char* otherwise, const json& value) {
    f[std::string("turnpike.fcp.") + (syn ? on_syn : otherwise)] = value;
  };
  put("limit", "reserve", c.reserve);
  put("wait", "age", c.age_ns);
  put("first_round", "preload", c.preload);
  put("budget", "balance", c.balance);
  put("parts", "slot", c.slot);
  if (!syn) f["turnpike.fcp.first"] = c.first ? 1 : 0;
  for (int i = 0; i < h.ranges; ++i) {
    f["turnpike.range.begin"].push_back(100 - 10 * i);
    f["turnpike.range.end"].push_back(105 - 10 * i);
  }
  return f;
}

class Writer {
 public:
  explicit Writer(const std::string& path) : capture_(path) {}

  void sound(const std::string& name, const wire::FrameSpec& s, const wire::Header& h,
             size_t user_bytes = 0) {
    write(name, s, payload_of(h, kCredible, user_bytes), fields_of(h, kCredible), nullptr);
  }
  /// A packet whose payload is sealed.
  void sealed(const std::string& name, Kind kind, size_t user_bytes) {
    const wire::Header h = header(kind);
    Bytes payload = payload_of(h, kCredible, user_bytes);
    wire::store_be32(&payload[h.length], 0x9abc'def0);
    json fields = fields_of(h, kCredible);
    fields["turnpike.sealed.key"] = 0x9abc'def0;
    write(name, spec(false, false), payload, std::move(fields), nullptr);
  }
  void broken(const std::string& name, const Bytes& payload, const std::string& expert) {
    write(name, spec(false, false), payload, json::object(), expert);
  }
  void incredible(const std::string& name, const fcp::Header& congestion) {
    broken(name, payload_of(header(Kind::kData), congestion), "figure");
  }
  /// A packet of another scheme; `congestion` is its header, `expert` null if it is sound.
  void other(const std::string& name, uint8_t protocol, const Bytes& congestion, json fields,
             const json& expert = nullptr) {
    wire::Header h = header(Kind::kData);
    h.protocol = protocol;
    h.length = wire::header_length(congestion.size(), 0);
    Bytes bytes(wire::kHeaderSize);
    wire::encode(h, bytes.data());
    bytes.insert(bytes.end(), congestion.begin(), congestion.end());
    fields["turnpike.protocol"] = protocol;
    write(name, spec(false, false), bytes, std::move(fields), expert);
  }
  [[nodiscard]] bool good() { return capture_.good(); }

 private:
  void write(const std::string& name, const wire::FrameSpec& s, const Bytes& payload, json fields,
             const json& expert) {
    capture_.add(wire::build_frame(s, payload));
    std::cout << json{{"name", name}, {"fields", std::move(fields)}, {"expert", expert}} << '\n';
  }
  wire::Capture capture_;
};

void write_sound(Writer& w) {
  for (const bool ipv6 : {false, true}) {
    for (const bool vlan : {false, true}) {
      const std::string over =
          std::string(ipv6 ? " over IPv6" : " over IPv4") + (vlan ? " in a VLAN" : "");
      for (int k = 1; k <= 7; ++k) {
        const auto kind = static_cast<Kind>(k);
        w.sound(std::string(wire::kind_name(kind)) + over, spec(ipv6, vlan), header(kind),
                kind == Kind::kData ? 1000 : 0);
      }
      w.sound("ACK with all ranges" + over, spec(ipv6, vlan), header(Kind::kAck, wire::kMaxRanges));
      w.sound("no checksum" + over, spec(ipv6, vlan, false), header(Kind::kData), 11);
    }
  }
}

void write_others(Writer& w) {
  w.sealed("sealed payload", Kind::kData, 100);
  w.sealed("sealed answer", Kind::kAck, 32);
  constexpr uint8_t kRcp = 2, kQfcp = 3;
  const auto rate = [](float r) {
    Bytes b(explicit_rate::kHeaderSize);
    explicit_rate::store({.rtt_ns = 20'000'000, .rate = r}, b.data());
    return b;
  };
  const json rates{{"turnpike.rate.rtt", 20'000'000}, {"turnpike.rate.rate", 2.5e6}};
  w.other("RCP", kRcp, rate(2.5e6F), rates);
  w.other("QFCP", kQfcp, rate(2.5e6F), rates);
  w.other("a rate of nothing", kRcp, rate(0), json::object(), "figure");
  w.other("RCP, too long", kRcp, Bytes(12, 1), json::object(), "congestion");

  w.other("QCP, short", qcp::kShortProtocolId, rate(2.5e6F), rates);
  Bytes interval(qcp::kHeaderSize);
  qcp::store({.common = {.rtt_ns = 20'000'000, .rate = 2.5e6F}, .interval = 4e-7F},
             interval.data());
  json all = rates;
  all["turnpike.qcp.interval"] = 4e-7;
  w.other("QCP", qcp::kProtocolId, interval, all);
  qcp::store({.common = {.rate = 2.5e6F}, .interval = -1}, interval.data());
  w.other("a negative interval", qcp::kProtocolId, interval, json::object(), "figure");

  Bytes b(xcp::kHeaderSize);
  xcp::store({.rtt_ns = 20'000'000, .flow = 0.5, .feedback = -300}, b.data());
  w.other("XCP", xcp::kProtocolId, b,
          {{"turnpike.xcp.rtt", 20'000'000},
           {"turnpike.xcp.flow", 0.5},
           {"turnpike.xcp.feedback", -300}});
  xcp::store({.rtt_ns = 20'000'000, .flow = 0, .feedback = 1}, b.data());
  w.other("no flow", xcp::kProtocolId, b, json::object(), "figure");

  b.resize(tcp::kHeaderSize);
  for (const uint32_t flags : {0U, tcp::kCapable | tcp::kMarked, tcp::kCapable | tcp::kInProfile}) {
    tcp::store(flags, b.data());
    w.other("TCP", tcp::kProtocolId, b,
            {{"turnpike.tcp.capable", flags & 1},
             {"turnpike.tcp.marked", flags >> 1 & 1},
             {"turnpike.tcp.in_profile", flags >> 2 & 1}});
  }

  b.resize(acc::kHeaderSize);
  acc::store({.role = acc::Role::kOutOfBand, .round = 513, .measure = 0.25}, b.data());
  w.other("ACC", acc::kProtocolId, b,
          {{"turnpike.acc.role", 1}, {"turnpike.acc.round", 513}, {"turnpike.acc.measure", 0.25}});
  acc::store({.role = acc::Role::kData, .measure = 1}, b.data());
  w.other("a measure on data", acc::kProtocolId, b, json::object(), "figure");
  acc::store({.role = static_cast<acc::Role>(9)}, b.data());
  w.other("a role of no sense", acc::kProtocolId, b, json::object(), "figure");
}

void write_broken(Writer& w) {
  const Bytes good = payload_of(header(Kind::kData), kCredible);
  const auto with = [&good](size_t at, uint8_t value) {
    Bytes b = good;
    b[at] = value;
    return b;
  };
  for (const size_t cut :
       {size_t{1}, size_t{3}, wire::kHeaderSize - 1, wire::kHeaderSize, good.size() - 1}) {
    w.broken("cut to " + std::to_string(cut) + " B",
             Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(cut)), "truncated");
  }
  w.broken("version 2", with(0, 0x23), "version");
  w.broken("kind 0", with(0, 0x10), "kind");
  w.broken("kind 8", with(0, 0x18), "kind");
  w.broken("protocol 0", with(1, 0), "protocol");
  w.broken("protocol 99", with(1, 99), "protocol");
  w.broken("nine ranges", with(2, 9), "length");
  w.broken("length below the common header", with(3, 5), "length");
  w.broken("length without the congestion header", with(3, 6), "congestion");
  w.broken("length beyond the packet", with(3, 255), "truncated");
  w.broken("a request with ranges", payload_of(header(Kind::kData, 1), kCredible), "request");
  Bytes reversed = payload_of(header(Kind::kAck, 1), kCredible);
  wire::store_range(header(Kind::kAck, 1), reversed.data(), 0, {.begin = 9, .end = 9});
  w.broken("an empty range", reversed, "range");

  const auto incredible = [&w](const std::string& name, auto change) {
    fcp::Header c = kCredible;
    change(c);
    w.incredible(name, c);
  };
  incredible("a price that is no number", [](auto& c) { c.price = NAN; });
  incredible("a negative price", [](auto& c) { c.price = -1; });
  incredible("an infinite balance", [](auto& c) { c.balance = INFINITY; });
  incredible("a preload beyond all sense", [](auto& c) { c.preload = -1e21F; });
  incredible("a denormal price", [](auto& c) { c.price = std::bit_cast<float>(1U); });
  incredible("a negative reserve price", [](auto& c) { c.reserve = -1; });
  incredible("a slot that is no number", [](auto& c) { c.slot = NAN; });
  incredible("an exchange rate of nothing", [](auto& c) { c.exchange = 0; });
  incredible("a negative charge", [](auto& c) { c.charged = -1; });
  incredible("a round trip of 5 ns", [](auto& c) { c.rtt_ns = 5; });
}

}  // namespace
}  // namespace turnpike

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_capture FILE\n", stderr);
    return 2;
  }
  turnpike::Writer writer(argv[1]);
  turnpike::write_sound(writer);
  turnpike::write_others(writer);
  turnpike::write_broken(writer);
  return writer.good() ? 0 : 1;
}
