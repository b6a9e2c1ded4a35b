// SPDX-License-Identifier: BSD-3-Clause
// inet_pton(3) and inet_ntop(3) read and print; prefixes are bit arithmetic on bytes.
#include "common/config/address.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include <arpa/inet.h>

namespace turnpike::config {
namespace {

constexpr Ipv4 mask(uint8_t length) { return length == 0 ? 0 : ~Ipv4{0} << (32 - length); }

bool same_bits(const Ipv6& a, const Ipv6& b, unsigned length) {
  const unsigned whole = length / 8, rest = length % 8;
  if (!std::equal(a.begin(), a.begin() + whole, b.begin())) return false;
  return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

// The length after the slash, at most `longest`; `text` shrinks to the address before it.
std::optional<uint8_t> take_length(std::string_view& text, uint8_t longest) {
  const auto slash = text.find('/');
  if (slash == text.npos) return {};
  const std::string_view digits = text.substr(slash + 1);
  uint8_t length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc{} || end != digits.data() + digits.size() || length > longest) return {};
  text = text.substr(0, slash);
  return length;
}

}  // namespace

std::optional<Ipv4> parse_ipv4(std::string_view text) {
  // A NUL inside would end the C string early and hide the text behind it.
  if (text.find('\0') != text.npos) return {};
  in_addr out;
  if (inet_pton(AF_INET, std::string(text).c_str(), &out) != 1) return {};
  return ntohl(out.s_addr);
}

std::optional<Ipv6> parse_ipv6(std::string_view text) {
  if (text.find('\0') != text.npos) return {};
  Ipv6 out;
  if (inet_pton(AF_INET6, std::string(text).c_str(), out.data()) != 1) return {};
  return out;
}

std::optional<Ipv4Prefix> parse_ipv4_prefix(std::string_view text) {
  const auto length = take_length(text, 32);
  const auto address = parse_ipv4(text);
  if (!length || !address) return {};
  return Ipv4Prefix{*address, *length};
}

std::optional<Ipv6Prefix> parse_ipv6_prefix(std::string_view text) {
  const auto length = take_length(text, 128);
  const auto address = parse_ipv6(text);
  if (!length || !address) return {};
  return Ipv6Prefix{*address, *length};
}

std::optional<Mac> parse_mac(std::string_view text) {
  Mac mac;
  if (text.size() != 17) return {};
  for (size_t i = 0; i < mac.size(); ++i) {
    const char* at = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(at, at + 2, mac[i], 16);
    if (error != std::errc{} || end != at + 2) return {};
    if (i + 1 < mac.size() && *end != ':') return {};
  }
  return mac;
}

std::string ipv4_text(Ipv4 address) {
  char out[INET_ADDRSTRLEN] = "";
  const in_addr network_order{htonl(address)};
  inet_ntop(AF_INET, &network_order, out, sizeof out);
  return out;
}

std::string ipv6_text(const Ipv6& address) {
  char out[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, address.data(), out, sizeof out);
  return out;
}

std::string prefix_text(const Ipv4Prefix& prefix) {
  return ipv4_text(prefix.address) + "/" + std::to_string(prefix.length);
}

std::string prefix_text(const Ipv6Prefix& prefix) {
  return ipv6_text(prefix.address) + "/" + std::to_string(prefix.length);
}

std::string mac_text(const Mac& mac) {
  char out[18];
  std::snprintf(out, sizeof out, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
                mac[4], mac[5]);
  return out;
}

Ipv4Prefix network(const Ipv4Prefix& prefix) {
  return {prefix.address & mask(prefix.length), prefix.length};
}

Ipv6Prefix network(const Ipv6Prefix& prefix) {
  Ipv6Prefix out = prefix;
  for (unsigned bit = prefix.length; bit < 128; ++bit)
    out.address[bit / 8] &= static_cast<uint8_t>(~(0x80U >> (bit % 8)));
  return out;
}

bool contains(const Ipv4Prefix& prefix, Ipv4 address) {
  return ((prefix.address ^ address) & mask(prefix.length)) == 0;
}

bool contains(const Ipv6Prefix& prefix, const Ipv6& address) {
  return same_bits(prefix.address, address, prefix.length);
}

bool covers(const Ipv4Prefix& outer, const Ipv4Prefix& inner) {
  return outer.length <= inner.length && contains(outer, inner.address);
}

bool covers(const Ipv6Prefix& outer, const Ipv6Prefix& inner) {
  return outer.length <= inner.length && contains(outer, inner.address);
}

}  // namespace turnpike::config
