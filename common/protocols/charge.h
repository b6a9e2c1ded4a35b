// SPDX-License-Identifier: BSD-3-Clause
// Money that a packet's congestion header pays, owes and promises, for routers that enforce
// budgets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace turnpike {

/// Amounts as the header states them, not yet validated by a law: not negative, never NaN, possibly
/// infinite. Money is the sender's.
struct Charge {
  float paid = 0;       // $ for this packet
  float charged = 0;    // $ that the links so far have charged for it at the time of its payment;
                        // 0: none has
  float committed = 0;  // $ for the traffic that it announces for one round trip later
  float expected = 0;   // $ that the sender expects to pay for that traffic; negative: it returns
                        // budget that earlier packets announced
  bool first = false;   // may be of the round that the flow's SYN announced
  bool slow = false;    // the flow sends at most one packet per round trip
  // SYN only.
  float first_bytes = 0;  // B announced for the first round
  float budget = 0;       // $/s that the flow may spend, 0: unknown
  float rtt = 0;          // s, 0: unknown

  /// $ that the packet announces, outside a first round. Flows that send at most one packet per
  /// round trip need not announce it.
  [[nodiscard]] float announced() const { return slow ? std::max(paid, expected) : expected; }
};

/// Of a data packet's Charge, the amounts that a budget needs.
struct alignas(16) ChargeRow {
  float paid, committed;
  float announced;  // Charge::announced()
  float rtt;
};

/// Charges of a burst's packets: row k is packet k's.
struct ChargeBatch {
  static constexpr size_t kMax = 32;

  /// Adds a packet: the congestion header and its B on the link.
  void add(const uint8_t* header, uint32_t size) {
    headers[count] = header;
    sizes[count++] = size;
  }

  // As in Charge.
  alignas(64) std::array<ChargeRow, kMax> rows;
  alignas(64) std::array<uint32_t, kMax> first;  // 1: true
  alignas(64) std::array<float, kMax> paid, charged;
  std::array<const uint8_t*, kMax> headers;
  std::array<uint32_t, kMax> sizes;
  size_t count = 0;
  // B of all packets that links have charged, and the part of them that they did not pay.
  float charged_bytes = 0, owed_bytes = 0;
};

/// How to read the charges of a protocol's packets.
struct ChargeReader {
  /// Of one packet: its congestion header; B on the link; whether it is a SYN.
  Charge (*one)(const uint8_t* header, uint32_t size, bool opens);
  /// Of data packets: fills in `rows` and `first`.
  /// Returns whether the money of all of them has the value 1 (Protocol::exchange_at).
  bool (*data)(ChargeBatch& batch);
  /// Of data packets: fills in `paid` and `charged`, and the sums of bytes.
  void (*payments)(ChargeBatch& batch);
};

}  // namespace turnpike
