// SPDX-License-Identifier: BSD-3-Clause
// A topology in one process on a virtual clock: the router's and the sender's own objects, joined
// by rings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/dpdk/pool.h"
#include "common/dpdk/ring_queue.h"
#include "common/dpdk/wire.h"
#include "router/router.h"
#include "sender/sender.h"

namespace turnpike::lab {

/// Time passes only as far as the earliest deadline, so a world is exact and repeats itself; the
/// same topology and seed give the same run. EAL must be up.
class World {
 public:
  static constexpr size_t kHosts = SIZE_MAX;  // the node that plays all hosts

  struct Options {
    uint64_t seed = 1;
    Nanos slack{0};  // link time that a router catches up on after a stall
  };
  /// The topology outlives the world. The error says what cannot be played.
  static tl::expected<std::unique_ptr<World>, std::string> make(const config::Topology& topology,
                                                                sender::OutcomeSink& outcomes,
                                                                const Options& options);

  /// What its packet buffers take of EAL's memory.
  static unsigned buffers_mb(const config::Topology& topology);

  /// Plays until `end`.
  void run_until(Nanos end);
  /// A router, by index, or kHosts does not run from now on for so long, as on a machine that is
  /// busy with something else.
  void stall(size_t node, Nanos time);

  [[nodiscard]] Nanos now() const { return now_; }
  [[nodiscard]] router::Router& router(size_t i) { return *routers_[i]; }
  [[nodiscard]] sender::Sender& sender() { return *sender_; }

 private:
  // One worker or the sender: polled when it said so, or when something waits at its doors.
  struct Node {
    router::Worker* worker = nullptr;  // null: the sender
    std::vector<QueuePair*> doors;
    Nanos next{0};
    Nanos held_until{0};
    Nanos held{0};
  };

  World(const config::Topology& topology, Pool pool, size_t buffers)
      : topology_(topology), pool_(std::move(pool)), buffers_(buffers) {}
  tl::expected<void, std::string> join(size_t link, std::vector<std::vector<QueuePair*>>& doors);
  QueuePair* door(RingQueue& end, const config::Link& link, size_t at);
  [[nodiscard]] static Nanos due(const Node& node);
  void poll(Node& node);

  const config::Topology& topology_;
  Pool pool_;
  size_t buffers_;
  std::vector<RingCable> cables_;
  std::vector<std::unique_ptr<Wire>> wires_;
  std::vector<std::unique_ptr<router::Router>> routers_;
  std::unique_ptr<sender::Sender> sender_;
  std::vector<Node> nodes_;  // the routers, then the sender
  Nanos now_{0};
};

}  // namespace turnpike::lab
