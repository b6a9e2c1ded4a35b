// SPDX-License-Identifier: BSD-3-Clause
// Finds customers whose announcements and traffic differ: over-preloading and false cancellation.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "common/protocols/charge.h"
#include "common/units/units.h"

namespace turnpike::router {

/// One lcore's comparison of the budget that a customer's packets announce for one round trip later
/// with the budget that they spend (section 5 of FCP's paper). Both are added up in windows of
/// kRoundTrips of the longest recent round trip. An honest customer's sums differ by what it
/// announced in the last round trip of a window; a customer whose sums differ by more than a
/// quarter in kWindows in a row, always in the same direction, is blocked. A block lasts for
/// kBlock, and twice as long for each one that follows soon.
///
/// Two kinds of packets count as announced, although no packet a round trip earlier did: those of
/// flows that send at most one packet per round trip, as any flow may; and those of first rounds,
/// as many bytes as SYNs announced. A packet of a first round may announce others of the same round
/// again, if the flow is slower than its SYN announced, or the next round: it counts once against
/// over-preloading, and for both against false cancellation. SYNs are not compared otherwise: where
/// links are overloaded, first rounds wait or never come.
///
/// A part of CustomerAccount. Times are ticks of 1 ms that wrap around after 52 days: a customer
/// that sent too little meanwhile for an end of its offences is then blocked for kMaxBlock.
class Misbehaviour {
 public:
  static constexpr float kRoundTrips = 8;
  static constexpr int kWindows = 5;
  static constexpr float kMinRatio = 0.8F, kMaxRatio = 1.25F;  // of announced by spent
  static constexpr uint16_t kEvidence = 50;  // packets in a window; fewer prolong it
  static constexpr float kMinWindow = 0.1F, kMaxWindow = 2;  // s
  static constexpr float kBlock = 1, kMaxBlock = 64;         // s

  /// Counts the bytes that a SYN announces.
  void open(float bytes) { opened_ = std::min(opened_ + bytes, kMaxOpened); }

  static uint32_t tick_of(Nanos now) { return static_cast<uint32_t>(now.count() >> kTickShift); }

  /// Counts a data packet of `size` B, or a part of its dollars.
  void send(const Charge& c, float size, uint32_t now, float part = 1) {
    if (c.first && opened_ >= size) {
      opened_ -= size;
      add(std::max(c.paid, c.expected) * part, (c.paid + c.expected) * part, c.paid * part, c.rtt,
          now);
    } else {
      add(c.announced() * part, c.announced() * part, c.paid * part, c.rtt, now);
    }
  }
  /// Whether packets of first rounds are due. Without any, a packet is of none.
  [[nodiscard]] bool opened() const { return std::bit_cast<uint32_t>(opened_) != 0; }
  /// The same as send() above for a packet that is of no first round.
  [[gnu::always_inline]] void send(const ChargeRow& row, uint32_t now, float part = 1) {
    add(row.announced * part, row.announced * part, row.paid * part, row.rtt, now);
  }

  [[nodiscard]] bool blocked(uint32_t now) const {
    return offences_ != 0 && until_ - now - 1 < ticks(kMaxBlock);
  }

 private:
  static constexpr float kKeep = 0.999F;    // of the longest round trip, per packet
  static constexpr float kMaxOpened = 1e8;  // B; binary32 counts packets up to there

  static constexpr unsigned kTickShift = 20;
  static uint32_t ticks(float seconds) {
    return static_cast<uint32_t>(seconds * (1e9F / (1 << kTickShift)));
  }
  static bool after(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; }

  /// Adds a packet's dollars to the sums of the window.
  [[gnu::always_inline]] void add(float least, float most, float spent, float rtt, uint32_t now) {
    rtt_ = std::max(rtt_ * kKeep, rtt);
    least_ += least;
    most_ += most;
    spent_ += spent;
    if (packets_ + 1 < kEvidence) {
      if (packets_ == 0) [[unlikely]]
        end_ = now + ticks(std::clamp(kRoundTrips * rtt_, kMinWindow, kMaxWindow));
      ++packets_;
      return;
    }
    packets_ = kEvidence;
    if (after(now, end_)) [[unlikely]]
      judge(now);
  }

  void judge(uint32_t now) {
    const int way = least_ > kMaxRatio * spent_ ? 1 : most_ < kMinRatio * spent_ ? -1 : 0;
    windows_ = static_cast<int8_t>(way * windows_ > 0 ? windows_ + way : way);
    least_ = most_ = spent_ = 0;
    packets_ = 0;
    if (offences_ != 0 && after(now, pardon_)) offences_ = 0;
    if (way * windows_ < kWindows) return;
    windows_ = 0;
    const float time = std::min(kBlock * static_cast<float>(1U << offences_), kMaxBlock);
    offences_ = static_cast<uint8_t>(std::min(offences_ + 1, 6));
    until_ = now + ticks(time);
    pardon_ = until_ + ticks(4 * time);
  }

  float least_ = 0, most_ = 0;       // $ announced in the present window, for either verdict
  float spent_ = 0;                  // $ in it
  float opened_ = 0;                 // B announced by SYNs, not yet sent
  float rtt_ = 0;                    // s
  uint32_t end_ = 0;                 // of the window
  uint32_t until_ = 0, pardon_ = 0;  // of the last block; valid if there are offences
  uint16_t packets_ = 0;             // in the window, up to kEvidence
  int8_t windows_ = 0;               // in a row that announced too much; negative: too little
  uint8_t offences_ = 0;             // blocks since the last pardon, the last one included
};
static_assert(sizeof(Misbehaviour) == 36);

}  // namespace turnpike::router
