// SPDX-License-Identifier: BSD-3-Clause
// Bursts of any frames through the parse stage: its fast paths give each packet the verdict, the
// metadata, the length and the bytes that the checks of a single packet give its twin.
//
// The input is a burst: for each packet a byte of control, one of length, the frame. Control: bit 0
// corrects the fields that would end most frames early (MAC, IPv4 header checksum), bit 1 says that
// the NIC found the checksum right, bit 2 splits the frame at 40 B, bits 3 to 7 repeat the packet
// as often.
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "common/wire/checksum.h"
#include "tests/fuzz/bench.h"
#include "tests/support/parse_oracle.h"
#include "tests/support/router_topology.h"

namespace {

using namespace turnpike;
using namespace turnpike::router;
using fuzz::require;

std::unique_ptr<fuzz::Bench> bench;
std::unique_ptr<const Tables> tables;

rte_mbuf* mbuf_of(std::span<const uint8_t> frame, uint8_t control) {
  rte_mbuf* m = fuzz::chain_of(*bench, frame, (control & 4) != 0 ? 40 : SIZE_MAX);
  if ((control & 2) != 0) m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD;
  return m;
}

void mend(std::span<uint8_t> frame) {
  constexpr size_t kIp = wire::kEthernetSize, kChecksum = kIp + wire::kIpv4ChecksumAt;
  if (frame.size() < kIp + wire::kIpv4Size) return;
  std::ranges::copy(test::router_mac(test::kLeft), frame.begin());
  if (frame[kIp] != 0x45) return;
  wire::store_be16(&frame[kChecksum], 0);
  wire::store_be16(&frame[kChecksum],
                   wire::checksum_of(wire::sum_words(frame.subspan(kIp, wire::kIpv4Size))));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  bench = fuzz::set_up("parse_fuzz", 1023);
  auto made = Tables::build(test::topology(), 0, -1);
  require(made.has_value(), "tables are built");
  tables = std::move(*made);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Burst burst;
  std::vector<rte_mbuf*> twins;
  for (std::span<const uint8_t> rest(data, size); rest.size() > 2 && twins.size() < kBurst;) {
    const uint8_t control = rest[0];
    const size_t length = std::min<size_t>(rest[1], rest.size() - 2);
    std::vector<uint8_t> frame(rest.begin() + 2, rest.begin() + 2 + static_cast<long>(length));
    rest = rest.subspan(2 + length);
    if ((control & 1) != 0) mend(frame);
    for (unsigned n = 0; n <= control >> 3U && twins.size() < kBurst; ++n) {
      burst.mbufs[twins.size()] = mbuf_of(frame, control);
      twins.push_back(mbuf_of(frame, control));
    }
  }
  const auto count = static_cast<unsigned>(twins.size());
  burst.begin(count, test::kLeft, Nanos(0));
  WorkerContext context;
  context.tables = tables.get();
  parse(burst, context);
  for (unsigned i = 0; i < count; ++i) {
    const std::string difference = test::parse_difference(burst, i, *twins[i], *tables);
    require(difference.empty(), difference.c_str());
  }
  rte_pktmbuf_free_bulk(burst.mbufs.data(), count);
  rte_pktmbuf_free_bulk(twins.data(), count);
  return 0;
}
