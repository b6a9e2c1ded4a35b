// SPDX-License-Identifier: BSD-3-Clause
#include "router/gateway/too_big.h"

#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/wire/bytes.h"
#include "common/wire/layers.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::gateway {
namespace {

constexpr uint32_t kFlow = 0x01020304, kToken = 0x50607080;

/// A message with MTU 1400 that quotes a request with `quoted` B behind the common header.
std::vector<uint8_t> message(bool ipv6, size_t quoted = 32) {
  std::vector<uint8_t> m(8);
  m[0] = ipv6 ? 2 : 3;
  m[1] = ipv6 ? 0 : 4;
  wire::store_be32(&m[4], 1400);
  const size_t ip = ipv6 ? wire::kIpv6Size : wire::kIpv4Size;
  m.resize(8 + ip + wire::kUdpSize + wire::kHeaderSize + quoted);
  m[8] = ipv6 ? 0x60 : 0x45;
  m[8 + (ipv6 ? wire::kIpv6NextHeaderAt : wire::kIpv4ProtocolAt)] = wire::kProtocolUdp;
  wire::encode({.kind = wire::Kind::kData,
                .protocol = 1,
                .length = static_cast<uint16_t>(wire::kHeaderSize + quoted),
                .flow = kFlow,
                .sequence = 77,
                .token = kToken},
               m.data() + 8 + ip + wire::kUdpSize);
  return m;
}

TEST(TooBig, SaysMtuAndPacket) {
  for (const bool ipv6 : {false, true}) {
    const auto found = read_too_big(message(ipv6), ipv6);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->mtu, 1400);
    EXPECT_EQ(found->flow, kFlow);
    EXPECT_EQ(found->token, kToken);
    EXPECT_EQ(found->sequence, 77U);
  }
}

TEST(TooBig, TakesNoOtherMessage) {
  for (const bool ipv6 : {false, true}) {
    const auto changed = [&](size_t at, uint8_t value) {
      auto m = message(ipv6);
      m[at] = value;
      return read_too_big(m, ipv6).has_value();
    };
    EXPECT_FALSE(changed(0, 1)) << "type";
    EXPECT_FALSE(changed(8, ipv6 ? 0x45 : 0x60)) << "version of what it quotes";
    EXPECT_FALSE(changed(8 + (ipv6 ? wire::kIpv6NextHeaderAt : wire::kIpv4ProtocolAt), 6));
    const size_t header = 8 + (ipv6 ? wire::kIpv6Size : wire::kIpv4Size) + wire::kUdpSize;
    EXPECT_FALSE(changed(header, 0)) << "version of the Turnpike header";
    EXPECT_FALSE(read_too_big(message(ipv6), !ipv6).has_value());
  }
  auto other = message(false);
  other[1] = 3;  // port unreachable
  EXPECT_FALSE(read_too_big(other, false).has_value());
}

/// Any bytes, and any length: it reads nothing beyond (AddressSanitizer watches).
RC_GTEST_PROP(TooBig, SurvivesAnything, (bool ipv6, std::vector<uint8_t> noise)) {
  auto m = message(ipv6);
  for (size_t i = 0; i + 1 < noise.size(); i += 2) m[noise[i] % m.size()] = noise[i + 1];
  m.resize(*rc::gen::inRange<size_t>(0, m.size() + 1));
  m.shrink_to_fit();
  (void)read_too_big(m, ipv6);
}

}  // namespace
}  // namespace turnpike::gateway
