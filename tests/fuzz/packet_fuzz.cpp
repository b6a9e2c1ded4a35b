// SPDX-License-Identifier: BSD-3-Clause
// Any frames, on any link, in any segments, through a whole router: every frame is accounted for,
// every buffer is freed, and no link's sums become invalid.
//
// The input is a sequence of packets: one byte of control, two of length, the frame. Control: bits
// 0-1 link, 2-3 segment size, 4 correct the fields that would end most frames early (MAC, IPv4
// header checksum), 5-7 time that passes.
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "common/wire/checksum.h"
#include "tests/fuzz/router_machine.h"
#include "tests/support/router_topology.h"

namespace {

using namespace turnpike;
using namespace turnpike::router;
using fuzz::require;

fuzz::RouterMachine* machine;

void mend(std::span<uint8_t> frame, size_t link) {
  if (frame.size() < 34) return;
  const wire::Mac mac = test::router_mac(link);
  std::ranges::copy(mac, frame.begin());
  const size_t ip = wire::load_be16(&frame[12]) == wire::kEtherTypeVlan ? 18 : 14;
  const size_t header = (frame[ip] & 15U) * 4;
  if (frame[ip] >> 4 != 4 || header < 20 || ip + header > frame.size()) return;
  wire::store_be16(&frame[ip + 10], 0);
  wire::store_be16(&frame[ip + 10], wire::checksum_of(wire::sum_words(frame.subspan(ip, header))));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  machine = new fuzz::RouterMachine("packet_fuzz", test::topology());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::array<size_t, 4> kSegments{SIZE_MAX, 16, 64, 200};
  constexpr size_t kMaxPackets = 64;
  static std::array<uint8_t, 9100> copy;
  std::span<const uint8_t> rest(data, size);
  for (size_t n = 0; n < kMaxPackets && rest.size() > 3; ++n) {
    const uint8_t control = rest[0];
    const size_t length =
        std::min<size_t>(1 + (rest[1] | rest[2] << 8) % copy.size(), rest.size() - 3);
    const std::span frame(copy.data(), length);
    std::ranges::copy(rest.subspan(3, length), frame.begin());
    rest = rest.subspan(3 + length);
    const size_t link = (control & 3U) % test::kLinks;
    if ((control & 16) != 0) mend(frame, link);
    fuzz::Port& port = machine->ports[link][n % fuzz::RouterMachine::kWorkers];
    require(port.put(fuzz::chain_of(*machine->bench, frame, kSegments[control >> 2 & 3])),
            "a port has room");
    machine->now += Nanos(int64_t{1} << (control >> 5) * 3);
    machine->poll();
  }
  const Snapshot after = machine->router->snapshot();
  require(after.conserved(), "every packet is accounted for");
  // All held packets leave in time, and none is lost.
  for (int i = 0; i < 1000 && machine->router->held() > 0; ++i) {
    machine->now += 2_ms;
    machine->poll();
  }
  require(machine->router->held() == 0, "nothing is held for ever");
  require(machine->bench->pool.in_use() == 0, "every buffer came back");
  if (after.held > 0)
    require(machine->router->snapshot().conserved(), "nothing is lost on its way");
  for (const LinkSnapshot& link : after.links)
    for (const Gauge& g : link.gauges) require(std::isfinite(g.value), "gauges are numbers");
  return 0;
}
