// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/charge.h"

#include <array>
#include <bit>
#include <cstring>

#include "common/protocols/fcp/batch_loops.h"
#include "common/protocols/fcp/header.h"

namespace turnpike::fcp {
namespace {

// Four packets' values: lane i is packet i's.
using Words [[gnu::vector_size(16)]] = uint32_t;
using Ints [[gnu::vector_size(16)]] = int32_t;
using Floats [[gnu::vector_size(16)]] = float;
constexpr size_t kQuad = 4;

// Comparisons with NaN are false.
[[gnu::always_inline]] inline float not_negative(float v) { return v > 0 ? v : 0.0F; }
[[gnu::always_inline]] inline Floats not_negative(Floats v) { return v > 0 ? v : Floats{}; }
[[gnu::always_inline]] inline Floats bounded(Floats v) {
  return ((v < 1e30F) & (v > -1e30F)) != 0 ? v : Floats{};
}
[[gnu::always_inline]] inline Floats larger(Floats a, Floats b) { return a < b ? b : a; }

[[gnu::always_inline]] inline Floats numbers(Words bits) { return std::bit_cast<Floats>(bits); }

// Between network and host byte order.
[[gnu::always_inline]] inline Words swapped(Words w) {
  using Bytes [[gnu::vector_size(16)]] = uint8_t;
  const auto b = std::bit_cast<Bytes>(w);
  return std::bit_cast<Words>(
      __builtin_shufflevector(b, b, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}

template <class Vector>
[[gnu::always_inline]] inline void transpose(Vector (&rows)[kQuad]) {
  const Vector a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Vector b = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Vector c = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Vector d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  rows[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  rows[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  rows[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  rows[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

// Words of headers in host byte order.
struct ChargeWords {
  Words rtt, reserve, preload, balance, slot;
};

struct Amounts {
  Floats paid, committed, expected, rtt, slot;
  Words first;  // 1: true
};

[[gnu::always_inline]] inline Amounts amounts_of(const ChargeWords& w, Floats bytes) {
  const Floats balance = not_negative(numbers(w.balance));
  const Floats next = 1 + numbers(w.preload), slot = numbers(w.slot & ~kSign);
  return {.paid = not_negative(balance * bytes),
          .committed = not_negative(larger(balance, not_negative(numbers(w.reserve))) * bytes *
                                    not_negative(next)),
          .expected = bounded(balance * bytes * next),
          .rtt = __builtin_convertvector(w.rtt, Floats) * 1e-9F,
          .slot = slot,
          // Without slots (preset `paper`) packets do not tell their round.
          .first = w.slot >> 31 | (std::bit_cast<Words>(slot == 0) & 1)};
}

[[gnu::always_inline]] inline float charged_of(uint32_t money, float bytes) {
  return not_negative(not_negative(number(money << 16)) * bytes);
}

size_t rows_of(const ChargeBatch& b) { return (b.count + kLanes - 1) / kLanes * kLanes; }

}  // namespace

Charge charge_of(const uint8_t* header, uint32_t size, bool opens) {
  const auto bytes = static_cast<float>(size);
  const auto at = [&](size_t offset) { return wire::load_be32(header + offset); };
  if (opens)
    return {.first_bytes = not_negative(number(at(kPreloadOffset))) * bytes,
            .budget = not_negative(number(at(kBalanceOffset)))};
  const Amounts a = amounts_of({.rtt = Words{at(kRttOffset)},
                                .reserve = Words{at(kReserveOffset)},
                                .preload = Words{at(kPreloadOffset)},
                                .balance = Words{at(kBalanceOffset)},
                                .slot = Words{at(kSlotOffset)}},
                               Floats{bytes});
  return {.paid = a.paid[0],
          .charged = charged_of(at(kExchangeOffset), bytes),
          .committed = a.committed[0],
          .expected = a.expected[0],
          .first = a.first[0] != 0,
          .slow = a.slot[0] >= a.rtt[0],
          .rtt = a.rtt[0]};
}

TURNPIKE_WIDEST
bool read_charges(ChargeBatch& b) {
  constexpr uint32_t kOne = 0x803f;  // the bfloat16 in network byte order
  static constexpr auto kPadding = [] {
    std::array<uint8_t, kHeaderSize> header{};
    header[kExchangeOffset] = kOne & 0xff;
    header[kExchangeOffset + 1] = kOne >> 8;
    return header;
  }();
  const size_t count = b.count, end = (count + kQuad - 1) / kQuad * kQuad;
  for (size_t k = count; k < end; ++k) {
    b.headers[k] = kPadding.data();
    b.sizes[k] = 0;
  }
  Words foreign{};
  for (size_t k = 0; k < end; k += kQuad) {
    Words front[kQuad], back[kQuad], sizes;  // the halves of four headers
    for (size_t i = 0; i < kQuad; ++i) {
      std::memcpy(&front[i], b.headers[k + i], sizeof front[i]);
      std::memcpy(&back[i], b.headers[k + i] + sizeof front[i], sizeof back[i]);
    }
    std::memcpy(&sizes, &b.sizes[k], sizeof sizes);
    transpose(front);
    transpose(back);
    const auto at = [&](size_t offset) {
      const size_t word = offset / sizeof(uint32_t);
      return word < kQuad ? front[word] : back[word - kQuad];
    };
    const Amounts a = amounts_of({.rtt = swapped(at(kRttOffset)),
                                  .reserve = swapped(at(kReserveOffset)),
                                  .preload = swapped(at(kPreloadOffset)),
                                  .balance = swapped(at(kBalanceOffset)),
                                  .slot = swapped(at(kSlotOffset))},
                                 __builtin_convertvector(std::bit_cast<Ints>(sizes), Floats));
    const Floats announced = a.slot >= a.rtt ? larger(a.paid, a.expected) : a.expected;
    Floats rows[kQuad] = {a.paid, a.committed, announced, a.rtt};
    transpose(rows);
    static_assert(sizeof(ChargeRow) == sizeof(Floats));
    for (size_t i = 0; i < kQuad; ++i) std::memcpy(&b.rows[k + i], &rows[i], sizeof rows[i]);
    std::memcpy(&b.first[k], &a.first, sizeof a.first);
    foreign |= at(kExchangeOffset) ^ kOne;
  }
  const auto [low, high] = std::bit_cast<std::array<uint64_t, 2>>(foreign & 0xffff);
  return (low | high) == 0;
}

TURNPIKE_WIDEST
void read_payments(ChargeBatch& b) {
  static_assert(kExchangeOffset == kBalanceOffset + sizeof(uint32_t));
  alignas(64) std::array<std::array<uint32_t, 2>, ChargeBatch::kMax> fields;
  const size_t n = rows_of(b);
  for (size_t k = 0; k < b.count; ++k)
    std::memcpy(&fields[k], b.headers[k] + kBalanceOffset, sizeof fields[k]);
  for (size_t k = b.count; k < n; ++k) {
    fields[k] = {};
    b.sizes[k] = 0;
  }
  alignas(64) std::array<float, ChargeBatch::kMax> counted{}, owed{};
  for (size_t k = 0; k < n; ++k) {
    const auto bytes = static_cast<float>(static_cast<int32_t>(b.sizes[k]));
    const float balance = not_negative(number(wire::swap_be32(fields[k][0])));
    const float paid = not_negative(balance * bytes);
    const float charged = charged_of(wire::swap_be32(fields[k][1]), bytes);
    const float missing = not_negative(bytes * (1 - paid / charged));
    b.paid[k] = paid;
    b.charged[k] = charged;
    counted[k] = charged > 0 ? bytes : 0.0F;
    owed[k] = charged > 0 ? missing : 0.0F;
  }
  b.charged_bytes = sum_of(counted.data(), n);
  b.owed_bytes = sum_of(owed.data(), n);
}

}  // namespace turnpike::fcp
