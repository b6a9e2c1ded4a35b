// SPDX-License-Identifier: BSD-3-Clause
// One worker's capture: copies the beginning of packets into a ring, within a share of its time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <rte_mbuf.h>

#include "common/metrics/counter.h"
#include "common/protocols/random.h"
#include "common/units/units.h"
#include "router/datapath/drop_reason.h"
#include "router/datapath/probe/packet_filter.h"
#include "router/datapath/probe/slot_ring.h"

namespace turnpike::router {

/// Beginning of a slot; the packet's first `present` B follow.
struct MirrorRecord {
  enum class Where : uint8_t { kReceived, kSent, kDropped };
  Nanos time{0};
  uint32_t length = 0;   // B of the frame
  uint16_t present = 0;  // B that follow
  uint16_t link = 0;
  uint16_t port = 0;  // DPDK's number of the port by which it came, as drivers set it
  Where where = Where::kReceived;
  DropReason reason = DropReason::kNone;
};

/// Written by its worker; take() and counts() by the control thread.
///
/// The worker's time is bounded by a model of it: every packet examined and every byte copied costs
/// tokens of nanoseconds, which refill at `share` of the time that passes. The constants are
/// estimates, not measurements; choosing the packets of a sample takes no tokens.
class Mirror {
 public:
  static constexpr double kExamine = 15;     // ns: a packet that the sample chose
  static constexpr double kInstruction = 3;  // ns: one of its filter's instructions
  static constexpr double kCopy = 150;       // ns: a slot
  static constexpr double kByte = 0.25;      // ns
  static constexpr uint16_t kMaxSnap = 9216;

  struct Options {
    bool received = true, sent = true, dropped = false;
    std::optional<unsigned> link = {};     // none: all
    const PacketFilter* filter = nullptr;  // outlives the mirror; null: every packet
    uint32_t sample = 1;                   // one of as many packets, at random
    uint16_t snap = 128;                   // B of a packet that are copied, at most kMaxSnap
    double share = 0.05;                   // of the worker's time, at most
    uint32_t slots = 4096;
    uint64_t seed = 1;
    size_t links = 1;  // of the router
  };
  /// Of one link since the beginning.
  struct Counts {
    metrics::Counter copied;
    metrics::Counter full;   // lost: the ring was full
    metrics::Counter spent;  // lost: the share of the worker's time was spent
  };

  explicit Mirror(const Options& options);

  /// Whether packets from or to a link count for the sample.
  [[nodiscard]] bool wants_received(unsigned link) const {
    return options_.received && wants(link);
  }
  [[nodiscard]] bool wants_sent(unsigned link) const { return options_.sent && wants(link); }
  /// Whether the sample has none of the next n packets, which it then counts: one comparison for a
  /// burst. If not, call received() or leaving() with them.
  bool passes_by(size_t n) {
    if (gap_ < n) return false;
    gap_ -= n;
    return true;
  }
  void received(std::span<rte_mbuf* const> packets, unsigned link, Nanos now);
  /// Copies packets before a port takes them; left() publishes as many as it took.
  void leaving(std::span<rte_mbuf* const> packets, unsigned link, Nanos now);
  void left(size_t taken, unsigned link);
  [[nodiscard]] bool wants_dropped() const { return options_.dropped; }
  void dropped(const rte_mbuf& m, unsigned link, DropReason why, Nanos now);

  /// The oldest record and its bytes, valid until pop(); null: none. Control thread.
  const MirrorRecord* front() { return reinterpret_cast<const MirrorRecord*>(ring_.front()); }
  void pop() { ring_.pop(); }
  [[nodiscard]] const std::vector<Counts>& counts() const { return counts_; }

 private:
  static constexpr size_t kMaxLeaving = 128;

  [[nodiscard]] bool wants(unsigned link) const { return !options_.link || *options_.link == link; }
  void refill(Nanos now);
  /// Places of the sample in the next n packets: calls f(place) for each.
  template <class F>
  void sample(size_t n, F&& f);
  bool copy(const rte_mbuf& m, unsigned link, MirrorRecord::Where where, DropReason why, Nanos now,
            uint32_t ahead);
  uint64_t next_gap();

  Options options_;
  SplitMix64 random_;
  uint64_t gap_ = 0;  // packets until the next one of the sample
  double tokens_;     // ns
  Nanos refilled_{0};
  std::vector<Counts> counts_;        // by link
  size_t leaving_[kMaxLeaving] = {};  // places of the copies that left() publishes
  uint32_t leaving_count_ = 0;
  SlotRing ring_;
};

}  // namespace turnpike::router
