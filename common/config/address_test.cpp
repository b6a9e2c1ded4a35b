// SPDX-License-Identifier: BSD-3-Clause
// Text to address and back, and prefix arithmetic against counting bits.
#include "common/config/address.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace turnpike::config {
namespace {

TEST(Address, RefusesAllButWholeAddresses) {
  for (const char* bad :
       {"", "10.0.0", "10.0.0.256", "10.0.0.1 ", "10.0.0.01x", "fd00::1", "a.b.c.d"})
    EXPECT_FALSE(parse_ipv4(bad)) << bad;
  for (const char* bad : {"", "fd00", "fd00:::1", "1::2::3", "fe80::1%eth0", "10.0.0.1"})
    EXPECT_FALSE(parse_ipv6(bad)) << bad;
  for (const char* bad :
       {"10.0.0.1", "10.0.0.1/", "10.0.0.1/33", "10.0.0.1/-1", "10.0.0.1/8x", "/8"})
    EXPECT_FALSE(parse_ipv4_prefix(bad)) << bad;
  for (const char* bad : {"fd00::1/129", "fd00::1/300", "fd00::1"})
    EXPECT_FALSE(parse_ipv6_prefix(bad)) << bad;
  for (const char* bad : {"", "02:54:50:00:00", "02:54:50:00:00:0g", "02-54-50-00-00-01",
                          "02:54:50:00:00:01:02", "2:54:50:00:00:001", "02:54:50:00:00:-1"})
    EXPECT_FALSE(parse_mac(bad)) << bad;
  EXPECT_FALSE(parse_ipv4(std::string_view("10.0.0.1\0x", 10)));
}

TEST(Address, ReadsAndPrints) {
  EXPECT_EQ(parse_ipv4("10.1.2.3"), 0x0a010203U);
  EXPECT_EQ(ipv6_text(*parse_ipv6("FD00:0:0:0:0:0:0:1")), "fd00::1");
  EXPECT_EQ(prefix_text(network(*parse_ipv4_prefix("10.1.2.3/12"))), "10.0.0.0/12");
  EXPECT_EQ(prefix_text(network(*parse_ipv6_prefix("fd00:1:2:ffff::3/52"))), "fd00:1:2:f000::/52");
  EXPECT_EQ(mac_text(*parse_mac("02:54:50:AB:cd:0f")), "02:54:50:ab:cd:0f");
}

TEST(Address, EveryAddressReadsBackAsItself) {
  EXPECT_TRUE(rc::check([](uint32_t v4, const std::array<uint8_t, 16>& v6, uint8_t length) {
    RC_ASSERT(parse_ipv4(ipv4_text(v4)) == v4);
    RC_ASSERT(parse_ipv6(ipv6_text(v6)) == v6);
    const auto p =
        parse_ipv6_prefix(prefix_text(Ipv6Prefix{v6, static_cast<uint8_t>(length % 129)}));
    RC_ASSERT(p && p->address == v6 && p->length == length % 129);
  }));
}

template <class Address, size_t Bits, class Bit>
bool same_leading_bits(const Address& a, const Address& b, unsigned n, Bit bit) {
  for (unsigned i = 0; i < n && i < Bits; ++i)
    if (bit(a, i) != bit(b, i)) return false;
  return true;
}

TEST(Address, PrefixesHoldWhatAgreesInTheirBits) {
  const auto bit4 = [](Ipv4 a, unsigned i) { return (a >> (31 - i)) & 1; };
  const auto bit6 = [](const Ipv6& a, unsigned i) { return (a[i / 8] >> (7 - i % 8)) & 1; };
  EXPECT_TRUE(rc::check([&](uint32_t a, Ipv6 b, uint8_t flip, uint8_t length) {
    const uint8_t n4 = length % 33, n6 = length % 129;
    const Ipv4 a2 = a ^ (1U << (flip % 32));
    Ipv6 b2 = b;
    b2[flip % 16] ^= static_cast<uint8_t>(1U << (flip % 8));
    const bool in4 = same_leading_bits<Ipv4, 32>(a, a2, n4, bit4);
    const bool in6 = same_leading_bits<Ipv6, 128>(b, b2, n6, bit6);
    RC_ASSERT(contains(Ipv4Prefix{a, n4}, a2) == in4);
    RC_ASSERT(contains(Ipv6Prefix{b, n6}, b2) == in6);
    RC_ASSERT((network(Ipv4Prefix{a, n4}).address == network(Ipv4Prefix{a2, n4}).address) == in4);
    RC_ASSERT((network(Ipv6Prefix{b, n6}).address == network(Ipv6Prefix{b2, n6}).address) == in6);
    RC_ASSERT(covers(Ipv4Prefix{a, n4}, Ipv4Prefix{a2, 32}) == in4);
    RC_ASSERT(!covers(Ipv6Prefix{b, 128}, Ipv6Prefix{b2, 127}));
  }));
}

}  // namespace
}  // namespace turnpike::config
