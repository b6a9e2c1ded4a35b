// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/charge.h"

#include <cstring>

#include "common/protocols/fcp/batch_loops.h"
#include "common/protocols/fcp/header.h"

namespace turnpike::fcp {
namespace {

// Comparisons with NaN are false.
[[gnu::always_inline]] inline float not_negative(float v) { return v > 0 ? v : 0.0F; }
[[gnu::always_inline]] inline float bounded(float v) {
  return v < 1e30F ? v > -1e30F ? v : 0.0F : 0.0F;
}

// A packet's words in host byte order.
struct ChargeWords {
  uint32_t rtt, reserve, preload, balance, slot;
};

struct ChargeRow {
  float paid, committed, expected, rtt;
  uint32_t first, slow;
};

[[gnu::always_inline]] inline ChargeRow row_of(const ChargeWords& w, float bytes) {
  const float balance = not_negative(number(w.balance)), reserve = not_negative(number(w.reserve));
  const float next = 1 + number(w.preload), slot = number(w.slot & ~kSign);
  const float rtt = static_cast<float>(w.rtt) * 1e-9F;
  return {.paid = not_negative(balance * bytes),
          .committed =
              not_negative((reserve > balance ? reserve : balance) * bytes * not_negative(next)),
          .expected = bounded(balance * bytes * next),
          .rtt = rtt,
          // Without slots (preset `paper`) packets do not tell their round.
          .first = w.slot >> 31 | static_cast<uint32_t>(slot == 0),
          .slow = static_cast<uint32_t>(slot >= rtt)};
}

[[gnu::always_inline]] inline float charged_of(uint32_t money, float bytes) {
  return not_negative(not_negative(number(money << 16)) * bytes);
}

constexpr size_t kHeaderWords = kHeaderSize / sizeof(uint32_t);
using HeaderFields = std::array<std::array<uint32_t, kHeaderWords>, ChargeBatch::kMax>;

constexpr size_t word(size_t offset) { return offset / sizeof(uint32_t); }

size_t rows_of(const ChargeBatch& b) { return (b.count + kLanes - 1) / kLanes * kLanes; }

}  // namespace

Charge charge_of(const uint8_t* header, uint32_t size, bool opens) {
  const auto bytes = static_cast<float>(size);
  const auto at = [&](size_t offset) { return wire::load_be32(header + offset); };
  if (opens)
    return {.first_bytes = not_negative(number(at(kPreloadOffset))) * bytes,
            .budget = not_negative(number(at(kBalanceOffset)))};
  const ChargeRow row = row_of({.rtt = at(kRttOffset),
                                .reserve = at(kReserveOffset),
                                .preload = at(kPreloadOffset),
                                .balance = at(kBalanceOffset),
                                .slot = at(kSlotOffset)},
                               bytes);
  return {.paid = row.paid,
          .charged = charged_of(at(kExchangeOffset), bytes),
          .committed = row.committed,
          .expected = row.expected,
          .first = row.first != 0,
          .slow = row.slow != 0,
          .rtt = row.rtt};
}

TURNPIKE_WIDEST
bool read_charges(ChargeBatch& b) {
  alignas(64) HeaderFields fields;
  const size_t n = rows_of(b);
  for (size_t k = 0; k < b.count; ++k) std::memcpy(&fields[k], b.headers[k], kHeaderSize);
  for (size_t k = b.count; k < n; ++k) {
    fields[k] = {};
    b.sizes[k] = 0;
  }
  for (size_t k = 0; k < n; ++k) {
    const auto at = [&](size_t offset) { return wire::swap_be32(fields[k][word(offset)]); };
    const ChargeRow row = row_of({.rtt = at(kRttOffset),
                                  .reserve = at(kReserveOffset),
                                  .preload = at(kPreloadOffset),
                                  .balance = at(kBalanceOffset),
                                  .slot = at(kSlotOffset)},
                                 static_cast<float>(static_cast<int32_t>(b.sizes[k])));
    b.paid[k] = row.paid;
    b.committed[k] = row.committed;
    b.expected[k] = row.expected;
    b.rtt[k] = row.rtt;
    b.first[k] = row.first;
    b.slow[k] = row.slow;
  }
  constexpr auto kOne = std::bit_cast<uint32_t>(1.0F);
  uint32_t foreign = 0;
  for (size_t k = 0; k < n; ++k)
    foreign |= k < b.count ? wire::swap_be32(fields[k][word(kExchangeOffset)]) ^ kOne : 0;
  return foreign >> 16 == 0;
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
