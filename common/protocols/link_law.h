// SPDX-License-Identifier: BSD-3-Clause
// The interface of a congestion control scheme at a router's egress link.
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

/// Upper bound of the queue classes of a law.
inline constexpr unsigned kMaxClasses = 8;
/// Upper bound of the groups at a link; group 0 is not among them.
inline constexpr unsigned kMaxGroups = UINT16_MAX;
/// Weight of group 0: packets of no customer, and of customers without a group.
inline constexpr double kNoGroupWeight = 1;
/// A group that a link did not have before, see LinkLaw::take_settings().
inline constexpr uint16_t kNewGroup = UINT16_MAX;

/// A link's state as a law sees it, summed over all lcores.
struct LinkState {
  double capacity = 0;                       // B/s, counted as LinkPacket::size counts
  double queue = 0;                          // B waiting, in a real or virtual queue
  double buffer = 0;                         // B, limit of each class
  std::array<double, kMaxClasses> queues{};  // B waiting by class, for laws with several
};

/// An AQM's decision about a packet for which the buffer has room.
enum class AqmAction : uint8_t {
  kPass,
  kSignal,  // congestion signal: CE mark if the packet is ECN-capable, otherwise drop
  kDrop,
};

/// One packet as a law sees it.
struct LinkPacket {
  uint8_t* header = nullptr;  // congestion header inside the packet; null: only counted
  uint32_t size = 0;          // B on this link: the IP datagram plus the link's overhead per packet
  bool opens = false;         // SYN: carries a request, no round trip time yet
  bool admitted = true;       // false: the buffer is full, the packet will be dropped
  AqmAction action = AqmAction::kPass;  // arrive() may change it; see LinkTraits::marks_or_drops
  uint8_t queue_class = 0;  // of classify() or the link's classes; then arrive() may change it
  uint16_t group = 0;       // of its sender, see LinkLaw::set_groups(); 0: none
  uint32_t flow =
      0;  // hash of its flow, if it has a header: at depart(), and see LinkTraits::flows
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
  bool groups = false;         // arrive() reads LinkPacket::group; see set_groups()
  bool flows = false;          // arrive() reads LinkPacket::flow
  /// The law detects by itself that the lcore was descheduled. For other laws the caller subtracts
  /// that time from `now`: an lcore that receives no packets during a stall must not count the time
  /// as idle.
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
  static constexpr size_t kMaxGauges = 12;

  explicit LinkLaw(const LinkTraits& traits) : traits_(traits) {}
  LinkLaw(const LinkLaw&) = delete;
  LinkLaw& operator=(const LinkLaw&) = delete;
  virtual ~LinkLaw() = default;

  [[nodiscard]] const LinkTraits& traits() const { return traits_; }

  /// Tells the weights of groups, by LinkPacket::group; those of group 0 are packets without one.
  /// Called at most once, before the first packet. A law without groups ignores it.
  virtual void set_groups(std::span<const double> /*weights*/) {}

  /// Takes the parameters, groups and classes of `made`, a law of the same protocol for as many
  /// lcores that has seen no packet, and keeps its own sums, prices and averages. `groups`: by new
  /// LinkPacket::group the old one, or kNewGroup; empty: they are the same. Call while no lcore
  /// uses the law. Does not allocate. False: the sums mean nothing under the new parameters
  /// (ParamSpec::restarts), and nothing has changed.
  virtual bool take_settings(LinkLaw& /*made*/, std::span<const uint16_t> /*groups*/) {
    return false;
  }

  /// Accounts for at most 64 packets that arrived together and stamps their headers in place. An
  /// lcore without packets for this link calls with an empty burst at housekeeping, so that its
  /// shard's published figures stay current. Returns a bit per packet (bit i: packet i) whose
  /// header is not credible (NaN, negative price...): it was neither counted nor stamped, and the
  /// caller drops it.
  virtual uint64_t arrive(unsigned shard, std::span<LinkPacket> burst, const LinkState& link,
                          Nanos now) = 0;

  /// Returns the queue class of this packet, below LinkTraits::classes. The header is not validated
  /// yet. Called before arrive() if there are several classes; counts nothing.
  [[nodiscard]] virtual unsigned classify(const LinkPacket&) const { return 0; }
  /// A class's share of the link, > 0, relative to other classes with packets waiting. Infinity:
  /// strict priority over all finite classes, lower class first. May change with update().
  [[nodiscard]] virtual double weight(unsigned /*queue_class*/) const { return 1; }

  /// The packets leave the queue now. Called where LinkTraits::wants_dequeue is set.
  virtual void depart(unsigned /*shard*/, std::span<LinkPacket> /*burst*/,
                      const LinkState& /*link*/, Nanos /*now*/) {}

  /// Runs the control interval. Called by the link's owner alone, at the time that the last call
  /// returned. Returns the next deadline.
  virtual Nanos update(const LinkState& /*link*/, Nanos /*now*/) { return kNever; }

  /// Price at present, $/B, as `shard` published it last; 0 if the law has none. Any thread.
  [[nodiscard]] virtual double price(unsigned /*shard*/) const { return 0; }

  /// Writes the law's figures for time series and plots, at most out.size(); safe from any thread,
  /// approximate while lcores run. Returns the number of gauges written (at most kMaxGauges).
  virtual size_t gauges(std::span<Gauge> out) const = 0;

 protected:
  void take_traits(const LinkLaw& made) { traits_ = made.traits_; }

 private:
  LinkTraits traits_;
};

}  // namespace turnpike
