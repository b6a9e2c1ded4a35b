// SPDX-License-Identifier: BSD-3-Clause
// Fragments fit the MTU, have correct headers, and reassemble to the datagram.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "common/wire/bytes.h"
#include "router/datapath/ingress/ip.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

/// The payload of a datagram reassembled from its fragments, in any order.
Frame reassemble(const std::vector<Frame>& frames, size_t at) {
  std::map<size_t, Frame> pieces;
  size_t end = 0;
  for (const Frame& f : frames) {
    const size_t header = (f[at] & 15U) * 4;
    const uint16_t field = wire::load_be16(f.data() + at + 6);
    const size_t offset = (field & 0x1fffU) * 8;
    pieces[offset] = Frame(f.begin() + static_cast<long>(at + header), f.end());
    if ((field & 0x2000) == 0) end = offset + pieces[offset].size();
  }
  Frame all;
  for (const auto& [offset, piece] : pieces) {
    if (offset != all.size()) return {};
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all.size() == end ? all : Frame{};
}

TEST(Fragment, ReassemblesToTheSamePayload) {
  for (const size_t size : {1481, 1500, 2000, 2961, 8900}) {
    for (const bool tagged : {false, true}) {
      for (const size_t segment : {size_t{1500}, size_t{300}}) {
        World w;
        const Frame payload = bytes(size);
        w.arrive(kLeft,
                 ethernet(kLeft, wire::kEtherTypeIpv4,
                          ipv4_datagram({.protocol = 17, .ttl = 9}, payload),
                          tagged ? std::optional<uint16_t>(3) : std::nullopt),
                 0, segment);
        w.run_until(w.now + 1_s);
        const auto out = w.sent(kRight);
        const size_t at = tagged ? 18 : 14;
        EXPECT_EQ(out.size(), (size + 1479) / 1480);
        for (const Frame& f : out) {
          EXPECT_EQ(unsound(f), "");
          EXPECT_LE(f.size() - at, 1500U);
          EXPECT_EQ(f[at + 8], 8) << "TTL";
          EXPECT_EQ(wire::load_be16(f.data() + at + 4), 7) << "identification";
          EXPECT_TRUE(std::equal(f.begin(), f.begin() + 6, host_mac(kRight).begin()));
          if (tagged) {
            EXPECT_EQ(wire::load_be16(f.data() + 14), 3);
          }
        }
        EXPECT_EQ(reassemble(out, at), payload) << size;
        EXPECT_EQ(w.snapshot().originated, out.size() - 1);
        EXPECT_EQ(w.snapshot().dropped(), 0U);
      }
    }
  }
}

TEST(Fragment, FragmentsOfFragmentsKeepTheirPlace) {
  World w;
  const Frame payload = bytes(4000);
  const Frame first(payload.begin(), payload.begin() + 2400);
  const Frame second(payload.begin() + 2400, payload.end());
  for (const auto& [fragment, part] : {std::pair<uint16_t, Frame>{300, second}, {0x2000, first}})
    w.arrive(kLeft, v4({.destination = "172.16.5.9", .fragment = fragment}, part), 0, 1500);
  w.run_until(w.now + 1_s);
  const auto out = w.sent(kNarrow);
  EXPECT_EQ(out.size(), 4U);
  for (const Frame& f : out) EXPECT_LE(f.size() - 14, 1280U);
  EXPECT_EQ(reassemble(out, 14), payload);
}

TEST(Fragment, WithoutBuffersThePacketIsDroppedWhole) {
  World w;
  w.arrive(kLeft, v4({}, bytes(1600)), 0, 1500);
  std::vector<rte_mbuf*> hoard;
  while (rte_mbuf* m = rte_pktmbuf_alloc(w.pool())) hoard.push_back(m);
  rte_pktmbuf_free(hoard.back());  // one buffer is not enough
  hoard.pop_back();
  w.poll(w.now);
  w.expect_one_drop(DropReason::kNoMbuf);
  for (rte_mbuf* m : hoard) rte_pktmbuf_free(m);
}

TEST(Fragment, MoreRouterOptionsArePassedOn) {
  World w;
  const Frame payload = bytes(3000);
  w.arrive(kLeft, v4({.options = {0x94, 4, 0, 0}}, payload), 0, 1500);
  w.run_until(w.now + 1_s);
  const auto out = w.sent(kRight);
  for (const Frame& f : out) EXPECT_EQ(unsound(f), "");
  EXPECT_EQ(reassemble(out, 14), payload);
}

}  // namespace
}  // namespace turnpike::router::test
