// SPDX-License-Identifier: BSD-3-Clause
// An egress link shared by all workers: capacity, buffer, law, and one shard per worker.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/config/topology.h"
#include "common/metrics/counter.h"
#include "common/protocols/registry.h"
#include "router/datapath/drop_reason.h"
#include "router/datapath/enforcement/balance_audit.h"
#include "router/datapath/link/classify.h"
#include "router/datapath/link/link_ring.h"
#include "router/datapath/link/queue_meter.h"
#include "router/datapath/link/virtual_queue.h"

namespace turnpike::router {

/// One worker's counters at one link, written by it alone. All workers read the first cache line
/// once per burst; reports read the rest.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): readers decide the order
struct alignas(64) LinkShard {
  metrics::Counter in_packets, in_bytes;    // admitted to the link's queue by this worker
  metrics::Counter out_packets, out_bytes;  // taken out of it by this worker: sent or dropped
  PublishedView virtual_queue;              // at line rate

  // Bytes in both directions as in the link's capacity: the datagram and `overhead` a packet.
  alignas(64) metrics::Counter rx_packets, rx_bytes;  // frames from the link's port
  metrics::Counter tx_packets, tx_bytes;              // packets that the port took
  metrics::Counter stamped;                           // headers the law stamped
  metrics::Counter offered_bytes;                     // of packets for this link, dropped or not
  QueueMeter waits;
  std::array<metrics::Counter, kDropReasons> drops;

  // B by class, if the link has several: put into the rings and taken out of all rings by this
  // worker.
  alignas(64) std::array<metrics::Counter, kMaxClasses> class_in, class_out;

  /// Counts packets that enter the link's queue; `bytes`: on the link.
  void enter(uint64_t bytes, uint64_t packets) {
    in_packets.add(packets);
    in_bytes.add(bytes);
  }
  /// Counts packets that leave it, sent or dropped.
  void leave(uint64_t bytes, uint64_t packets = 1) {
    out_packets.add(packets);
    out_bytes.add(bytes);
  }
  void drop(DropReason why) { drops[static_cast<size_t>(why)].add(); }
};
static_assert(4 * sizeof(metrics::Counter) + sizeof(PublishedView) <= 64,
              "fields that other workers read fit one cache line");
static_assert(sizeof(LinkShard) % 64 == 0, "no line with two writers");

/// The packets whose payments are checked at a link: those of a protocol.
struct Audited {
  uint8_t protocol = 0;                   // Turnpike id
  const ChargeReader* charges = nullptr;  // null: no link of the topology charges packets
};

/// Sizes are bytes on the link: IP datagram plus overhead per packet. The seed of the law's random
/// numbers depends on the run's seed, the link and the direction.
struct EgressLink {
  EgressLink(const config::Link& link, size_t direction, unsigned workers, uint64_t run_seed,
             const Protocol* (*find)(std::string_view name) = find_protocol);

  std::string name;
  double capacity;  // B/s
  BitRate rate;
  int64_t buffer;     // B
  uint32_t overhead;  // B per packet
  config::Drain drain;
  // Whether the port has a carrier. The control thread writes, workers read.
  std::atomic<bool> up{true};
  unsigned owner = 0;                            // worker that shapes the link and updates the law
  uint8_t protocol = 0;                          // Turnpike id of the law; 0: none
  LinkTraits traits;                             // the law's
  std::unique_ptr<LinkLaw> law;                  // null: FIFO
  const uint16_t* groups = nullptr;              // by customer; null: the law has no groups
  std::unique_ptr<const Classifier> classifier;  // null: the link has no classes in its file
  std::array<double, kMaxClasses> class_buffer;  // B, limit of each class, with a classifier
  std::vector<ClassRule> tree;                   // rules of a tree's classes; empty: no tree
  std::vector<LinkShard> shards;                 // by worker
  std::vector<std::unique_ptr<LinkRing>> ring;   // by worker; null: no ring, sends to the port
  std::vector<std::unique_ptr<LinkRing>> old_rings;   // in which packets may be left
  unsigned draining = 0;                              // bound of the shaper's sources in old rings
  Audited audited;                                    // here
  std::vector<std::unique_ptr<BalanceAudit>> audits;  // by worker; empty: not the end of paths

  /// Takes the settings of `made`, a link of this name for as many workers: rate, buffer, classes,
  /// audits, groups, and the law or its settings. Counters and rings stay. `made` keeps the
  /// replaced parts. `groups_from`: see LinkLaw::take_settings(). Call while no worker polls.
  /// False: the law has begun anew.
  bool take_settings(EgressLink& made, std::span<const uint16_t> groups_from);

  /// B admitted and not yet sent, over all workers. Other workers' counters may lag by a burst;
  /// never below zero.
  [[nodiscard]] int64_t queued() const {
    uint64_t in = 0, out = 0;
    // Reads `out` first, so that a packet between the two reads counts as waiting, not as negative.
    for (const LinkShard& s : shards) out += s.out_bytes.read();
    for (const LinkShard& s : shards) in += s.in_bytes.read();
    return in > out ? static_cast<int64_t>(in - out) : 0;
  }
  /// The same in packets.
  [[nodiscard]] uint64_t held() const {
    uint64_t in = 0, out = 0;
    for (const LinkShard& s : shards) out += s.out_packets.read();
    for (const LinkShard& s : shards) in += s.in_packets.read();
    return in > out ? in - out : 0;
  }
  /// B of a class still in the rings, if the link has several classes.
  [[nodiscard]] double queued_of(unsigned queue_class) const {
    uint64_t in = 0, out = 0;
    for (const LinkShard& s : shards) out += s.class_out[queue_class].read();
    for (const LinkShard& s : shards) in += s.class_in[queue_class].read();
    return in > out ? static_cast<double>(in - out) : 0;
  }
  /// Advances the virtual queue of a line-rate link to `now`, publishes it in `shard` and returns
  /// its length in B. Starts from the latest view of any worker.
  double update_virtual_queue(LinkShard& shard, Nanos now);
};

}  // namespace turnpike::router
