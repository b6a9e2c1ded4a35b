// SPDX-License-Identifier: BSD-3-Clause
// What every congestion control scheme runs at a router's egress link.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "common/units/units.h"

namespace turnpike {

/// Most classes of queue that a law may divide its link's packets into.
inline constexpr unsigned kMaxClasses = 4;

/// What a law may know of its link at this instant. All lcores' shares are summed already.
struct LinkState {
  double capacity = 0;                       // B/s, counted as LinkPacket::size counts
  double queue = 0;                          // B waiting now, real or virtual
  double buffer = 0;                         // B that may wait, of each class
  std::array<double, kMaxClasses> queues{};  // B waiting by class, for laws with more than one
};

/// What becomes of a packet that the buffer has room for.
enum class AqmAction : uint8_t {
  kPass,
  kSignal,  // its flow shall hear of congestion: marked where IP says it may be, dropped elsewhere
  kDrop,
};

/// One packet as a law sees it.
struct LinkPacket {
  uint8_t* header =
      nullptr;           // congestion header inside the packet; null: traffic the law only counts
  uint32_t size = 0;     // B on this link: the IP datagram plus the link's overhead per packet
  bool opens = false;    // SYN: carries a request, no round trip time yet
  bool admitted = true;  // false: the buffer is full, it will be dropped
  AqmAction action = AqmAction::kPass;  // arrive() may change it; see LinkTraits::marks_or_drops
  uint8_t queue_class = 0;              // what classify() said
  uint32_t flow = 0;                    // on departure: which flow it is of, where it has a header
};

/// The bytes [begin, end) of a congestion header that stamping may rewrite. Both are even. The
/// caller updates the UDP checksum over them incrementally (RFC 1624).
struct HeaderRange {
  uint8_t begin = 0, end = 0;
};

/// Properties of a law that are fixed when it is made.
struct LinkTraits {
  HeaderRange rewritten{};
  /// Queues before the link, from 1 to kMaxClasses; each has the whole buffer. A port that sends at
  /// line rate has one.
  unsigned classes = 1;
  /// arrive() sets LinkPacket::action. kSignal is for packets without a header: a law marks packets
  /// of its own protocol by writing their headers.
  bool marks_or_drops = false;
  bool wants_dequeue = false;  // depart() is called
  /// The law detects by itself that the lcore was descheduled. For other laws the caller subtracts
  /// that time from `now`: the lcore saw no packets then, which does not mean that none came.
  bool knows_stalls = false;
};

/// A named figure that a law publishes: price, average RTT, number of flows.
struct Gauge {
  std::string_view name;
  double value = 0;
};

/// For LinkLaw::gauges(): writes as many of `all` as there is room for, and returns how many.
inline size_t write_gauges(std::span<Gauge> out, std::initializer_list<Gauge> all) {
  const size_t n = std::min(all.size(), out.size());
  std::copy_n(all.begin(), n, out.begin());
  return n;
}

/// A law at one egress link, shared by the lcores that send to it. Each lcore names its shard and
/// is the only writer of that shard; it reads the other shards' published totals. No call
/// allocates, locks or reads a clock. Time never goes backwards within a shard.
class LinkLaw {
 public:
  static constexpr size_t kMaxGauges = 8;

  explicit LinkLaw(const LinkTraits& traits) : traits_(traits) {}
  LinkLaw(const LinkLaw&) = delete;
  LinkLaw& operator=(const LinkLaw&) = delete;
  virtual ~LinkLaw() = default;

  [[nodiscard]] const LinkTraits& traits() const { return traits_; }

  /// Takes account of at most 64 packets that arrived together and stamps their headers in place.
  /// An lcore that has none for this link calls with an empty burst at housekeeping, so that what
  /// its shard published does not grow old.
  /// Returns a bit per packet (bit i: packet i) whose header cannot be believed (NaN, negative
  /// price...): it was not counted and not stamped, and the caller drops it.
  virtual uint64_t arrive(unsigned shard, std::span<LinkPacket> burst, const LinkState& link,
                          Nanos now) = 0;

  /// Returns the class, below LinkTraits::classes, of the queue for this packet, whose fields may
  /// be untrue. Called before arrive() where there are several classes; counts nothing.
  [[nodiscard]] virtual unsigned classify(const LinkPacket&) const { return 0; }
  /// A class's share of the link, in proportion to those of other classes with packets waiting; >
  /// 0. Infinity: such classes go before all others, the lower one first. May change with update().
  [[nodiscard]] virtual double weight(unsigned /*queue_class*/) const { return 1; }

  /// The packets leave the queue now. Called where LinkTraits::wants_dequeue is set.
  virtual void depart(unsigned /*shard*/, std::span<LinkPacket> /*burst*/,
                      const LinkState& /*link*/, Nanos /*now*/) {}

  /// Control interval, called by the link's owner alone when its last answer has come due.
  /// Returns the next deadline.
  virtual Nanos update(const LinkState& /*link*/, Nanos /*now*/) { return kNever; }

  /// Fills in what the law knows, for the series and the plots; safe from any thread, approximate
  /// while lcores run. Returns how many gauges it wrote (at most kMaxGauges).
  virtual size_t gauges(std::span<Gauge> out) const = 0;

 private:
  LinkTraits traits_;
};

}  // namespace turnpike
