// SPDX-License-Identifier: BSD-3-Clause
// Every scheme's law of a link over congestion headers of any bytes, at any times: no undefined
// behaviour, figures stay numbers, and what is not refused is stamped with a number.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "common/protocols/fcp/header.h"
#include "common/protocols/registry.h"

namespace {

using namespace turnpike;

void require(bool holds, const Protocol& protocol, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "law_fuzz: %s: %s\n", protocol.name.data(), what.data());
  std::abort();
}

constexpr size_t kMostHeader = 64, kBurst = 8;
constexpr uint32_t kSizes[] = {64, 84, 1500, 9000};

/// A byte that says what the packet is, then its congestion header.
struct Packet {
  uint8_t what;
  std::array<uint8_t, kMostHeader> header;
};

void play(const Protocol& protocol, std::string_view preset, std::vector<Packet> packets) {
  const auto law = protocol.make_link_law(preset_values(protocol, true, preset), 2, 1);
  Nanos now{0}, due = law->update({.capacity = 12.5e6}, now);
  for (size_t first = 0; first < packets.size(); first += kBurst) {
    const std::span part =
        std::span(packets).subspan(first, std::min(kBurst, packets.size() - first));
    std::array<PricedPacket, kBurst> burst;
    for (size_t i = 0; i < part.size(); ++i) {
      const uint8_t what = part[i].what;
      burst[i] = {.header = (what & 1) != 0 ? nullptr : part[i].header.data(),
                  .size = kSizes[what >> 1 & 3],
                  .opens = (what & 8) != 0,
                  .admitted = (what & 0x30) != 0};
    }
    // From a nanosecond to 2 s after the last.
    now += Nanos(int64_t{1} << (part[0].header[0] & 31));
    const double queue = part[0].header[1] * 1000.0;
    const LinkState link{.capacity = 12.5e6, .queue = queue, .buffer = 250e3, .queues = {queue}};
    const unsigned shard = part[0].what >> 6 & 1;
    const uint64_t refused = law->arrive(shard, {burst.data(), part.size()}, link, now);
    require(refused >> part.size() == 0, protocol, "refused what was not there");
    // The router drops what is refused or found no room.
    std::vector<PricedPacket> sent;
    for (size_t i = 0; i < part.size(); ++i)
      if ((refused >> i & 1) == 0 && burst[i].admitted) sent.push_back(burst[i]);
    if (law->departs()) law->depart(shard, sent, link, now);
    while (due <= now) {
      const Nanos next = law->update(link, now);
      require(next > due, protocol, "wants to be called at once");
      due = next > now ? next : now + 1_ms;
    }
    for (size_t i = 0; i < part.size(); ++i) {
      if (protocol.id != fcp::kProtocolId || burst[i].header == nullptr || !burst[i].admitted ||
          (refused >> i & 1) != 0)
        continue;
      const fcp::Header h = fcp::load(burst[i].header);
      require(h.price > 0 && h.price <= fcp::kMaxPrice && fcp::credible_amount(h.reserve), protocol,
              "stamped what nobody believes");
    }
    std::array<Gauge, LinkLaw::kMaxGauges> gauges;
    const size_t n = law->gauges(gauges);
    for (size_t i = 0; i < n; ++i) require(!std::isnan(gauges[i].value), protocol, gauges[i].name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const auto all = protocols();
  const Protocol& protocol = all[data[0] % all.size()];
  const auto presets = preset_names();
  const std::string_view preset = presets[data[0] / all.size() % presets.size()];
  std::vector<Packet> packets;
  const size_t record = 1 + size_t{protocol.header_size};
  for (size_t at = 1; at + record <= size; at += record) {
    Packet& p = packets.emplace_back();
    p.what = data[at];
    std::memcpy(p.header.data(), data + at + 1, protocol.header_size);
  }
  play(protocol, preset, std::move(packets));
  return 0;
}
