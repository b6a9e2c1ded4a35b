// SPDX-License-Identifier: BSD-3-Clause
// A keyed hash whose values are unpredictable without the key.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace turnpike::sender {

/// 128 secret bits of this process.
using SecretKey = std::array<uint64_t, 2>;

/// SipHash-2-4 (Aumasson and Bernstein, 2012) of whole 64-bit words in host order.
inline uint64_t siphash(const SecretKey& key, std::span<const uint64_t> words) {
  uint64_t a = key[0] ^ 0x736f6d6570736575, b = key[1] ^ 0x646f72616e646f6d,
           c = key[0] ^ 0x6c7967656e657261, d = key[1] ^ 0x7465646279746573;
  const auto rounds = [&](int n) {
    for (int i = 0; i < n; ++i) {
      a += b;
      c += d;
      b = std::rotl(b, 13) ^ a;
      d = std::rotl(d, 16) ^ c;
      a = std::rotl(a, 32);
      c += b;
      a += d;
      b = std::rotl(b, 17) ^ c;
      d = std::rotl(d, 21) ^ a;
      c = std::rotl(c, 32);
    }
  };
  const auto take = [&](uint64_t word) {
    d ^= word;
    rounds(2);
    a ^= word;
  };
  for (const uint64_t word : words) take(word);
  take(uint64_t{words.size_bytes()} << 56);
  c ^= 0xff;
  rounds(4);
  return a ^ b ^ c ^ d;
}

/// A key for one purpose: keys of different purposes are independent.
inline SecretKey derive(const SecretKey& secret, uint64_t purpose) {
  return {siphash(secret, std::array{purpose, uint64_t{0}}),
          siphash(secret, std::array{purpose, uint64_t{1}})};
}

}  // namespace turnpike::sender
