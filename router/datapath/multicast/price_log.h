// SPDX-License-Identifier: BSD-3-Clause
// The price at which each of a tree's recent packets arrived, for the answers to it.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>

namespace turnpike::router {

/// Names one request: a packet and its repetitions.
struct RequestId {
  uint32_t flow = 0;
  uint32_t sequence = 0;
  uint8_t kind = 0;  // wire::Kind of the request

  /// Consecutive packets of a flow get different places of any power of two.
  [[nodiscard]] uint32_t place() const { return sequence + flow * 2654435761U + kind * 40503U; }
  /// A hash that tells apart requests of the same place.
  [[nodiscard]] uint32_t tag() const {
    const uint64_t mixed = (uint64_t{flow} << 32 | sequence) * 0x9e3779b97f4a7c15 +
                           kind * uint64_t{0xff51afd7ed558ccd};
    return static_cast<uint32_t>((mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9 >> 32);
  }
};

/// Written by one worker, read by any: an entry is one word, so that tag and price belong together.
class PriceLog {
 public:
  /// Packets that may pass while one is in the subtree below this router: 6 MB of full packets.
  static constexpr uint32_t kEntries = 4096;

  void store(const RequestId& id, float price) {
    const uint64_t entry = uint64_t{id.tag()} << 32 | std::bit_cast<uint32_t>(price);
    entries_[id.place() % kEntries].store(entry, std::memory_order_relaxed);
  }
  /// std::nullopt: the packet has not passed, or too many since.
  [[nodiscard]] std::optional<float> find(const RequestId& id) const {
    const uint64_t entry = entries_[id.place() % kEntries].load(std::memory_order_relaxed);
    if (entry >> 32 != id.tag()) return {};
    return std::bit_cast<float>(static_cast<uint32_t>(entry));
  }

 private:
  std::array<std::atomic<uint64_t>, kEntries> entries_{};
};

}  // namespace turnpike::router
