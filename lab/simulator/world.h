// SPDX-License-Identifier: BSD-3-Clause
// A topology in one process on a virtual clock: the router's and the sender's own objects, joined
// by simulated links.
//
// Example:
//
//     #include "common/config/load.h"
//
//     // Eal::start() comes before.
//     struct : sender::OutcomeSink {
//       void flow_ended(const sender::FlowOutcome&) override {}
//     } outcomes;
//     const auto topology = config::load_file("configs/demo.yaml");
//     if (!topology) return;
//     const auto world = World::make(*topology, outcomes, {.seed = 1});
//     if (!world) return;  // world.error() says why
//     (*world)->run_until(1_s);
//     const router::Snapshot gate = (*world)->router(0).snapshot();
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/dpdk/line_vector.h"
#include "common/dpdk/pool.h"
#include "lab/simulator/cut.h"
#include "lab/simulator/kept_outcomes.h"
#include "lab/simulator/lcore_threads.h"
#include "lab/simulator/schedule.h"
#include "lab/simulator/sim_link.h"
#include "router/gateway/gateway.h"
#include "router/router.h"
#include "sender/sender.h"

namespace turnpike::lab {

/// Advances time to the earliest deadline, so results are exact: the same topology and seed give
/// the same run, whatever the number of threads. EAL must be up.
///
/// With several threads the topology is cut into parts. All of them play the same window of time,
/// which begins with the earliest deadline and takes the cut's lookahead: no packet that is sent in
/// it reaches another part before its end.
class World {
 public:
  struct Options {
    uint64_t seed = 1;
    unsigned threads = 1;  // at most; fewer if the topology cannot be cut into so many parts
    const sender::Traces* traces = nullptr;  // of the topology; null: make() reads them
    Nanos slack{0};                          // link time that a router catches up on after a stall
    const Protocol* (*find)(std::string_view name) = find_protocol;  // of the routers' laws
  };
  /// `topology` must outlive the world. The error names an entry that cannot be played.
  static tl::expected<std::unique_ptr<World>, std::string> make(const config::Topology& topology,
                                                                sender::OutcomeSink& outcomes,
                                                                const Options& options);

  /// Parts into which the topology is cut for so many threads, at most.
  static uint32_t parts_for(unsigned threads);

  /// Number of the packet buffers that are in use at a time, and their size. They have memory of
  /// their own.
  struct Buffers {
    size_t packets = 0;
    size_t bytes_each = 0;
    sender::Sizing size;  // of all hosts' traffic
  };
  /// The kind of a router's forwarding tables.
  static router::FibKind fib_kind(const config::Topology& topology, const config::Router& router);
  /// Memory for a router's forwarding tables, about, B.
  static size_t table_memory(const config::Topology& topology, const config::Router& router);
  static Buffers buffers(const config::Topology& topology, const sender::Traces& traces);
  /// MB of EAL's memory that the world needs.
  static unsigned memory_mb(const config::Topology& topology, const sender::Traces& traces);

  /// All routers take `wanted`, between two polls, as a running router does on a reload. Hosts,
  /// their traffic and the cables stay as they are. The error: all reasons of all routers; none has
  /// changed.
  tl::expected<void, std::string> reload(const config::Topology& wanted);

  /// For reading a link's packets, and for adding others to them.
  [[nodiscard]] SimLink& link(size_t i) { return links_[i]; }

  /// From now on a link has this delay, and loses this share of packets: its path has changed.
  void set_path(size_t link, Nanos delay, double loss);

  /// Plays until `end`. Outcomes of flows are reported at its end, in the order of their time.
  void run_until(Nanos end);
  /// Polls at `now` all nodes that have come due by then, as a machine that reads its clock late;
  /// returns whether any was due. For one thread.
  bool catch_up(Nanos now);
  [[nodiscard]] Nanos next() const { return parts_[0]->schedule.next(); }
  /// Stops polling these nodes for `time` from now on, as on a machine that runs other programs.
  void stall_router(size_t i, Nanos time);
  void stall_hosts(Nanos time);

  [[nodiscard]] Nanos now() const { return now_; }
  /// Windows that have been played, and those that several threads played. `polls` of nodes in all
  /// windows; `longest`: the sum, over the windows, of those of the part with the most.
  struct Windows {
    uint64_t all = 0, parallel = 0, polls = 0, longest = 0;
  };
  [[nodiscard]] Windows windows() const { return windows_; }
  [[nodiscard]] router::Router& router(size_t i) { return *routers_[i]; }
  /// In the order of Topology::gateways.
  [[nodiscard]] gateway::Gateway& gateway(size_t i) { return *gateways_[i]; }
  /// One sender per host that is played, in the order of the file.
  [[nodiscard]] std::span<sender::Sender* const> senders() const { return senders_; }
  /// Packet buffers that are not free: those of packets in flight.
  [[nodiscard]] unsigned buffers_in_use() const {
    return source_pool_.in_use() + router_pool_.in_use();
  }
  /// Packets that links lost at random, by link and direction.
  [[nodiscard]] uint64_t lost(size_t link, size_t direction) const {
    return links_[link].line(direction).lost();
  }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;  // no node plays this host
  // A router's worker or a host: polled at its deadline, or when a packet arrives.
  struct Node {
    router::Worker* worker = nullptr;
    uint32_t drains = 0;                        // the node that drains this worker's link rings
    uint32_t router = 0;                        // the worker's
    const gateway::Gateway* gateway = nullptr;  // where that router is one and has several workers
    sender::Sender* sender = nullptr;
    uint32_t part = 0;
    uint32_t place = 0;  // in the part's schedule
    size_t input = 0;    // in the part's `inputs`: of the node's next link, while cables are laid
    Nanos held_until{0};
    Nanos held{0};
  };
  // Nodes that one thread polls in a window.
  struct alignas(64) Part {
    Part(size_t records, sender::SharedArrivals arrivals, KeptOutcomes& all)
        : records(records, /*populated=*/false), arrivals(std::move(arrivals)), outcomes(all) {}

    Schedule schedule;
    std::vector<uint32_t> nodes;      // as the schedule numbers them: indices into nodes_
    LineVector<Nanos> inputs;         // by node and link: QueuePair::next_arrival()
    sender::RecordPool records;       // of its hosts' packets in flight
    sender::SharedArrivals arrivals;  // their flows
    PartOutcomes outcomes;
    std::vector<SimChannel*> in, out;  // from and to other parts
    Nanos now{0};
    Nanos sent = kNever;  // when the first packet for another part arrives that is not delivered
    uint64_t polls = 0;   // in this window
  };

  World(const config::Topology& topology, Cut cut, Pool sources, Pool routers,
        sender::OutcomeSink& outcomes, const Options& options)
      : topology_(topology),
        cut_(std::move(cut)),
        source_pool_(std::move(sources)),
        router_pool_(std::move(routers)),
        outcomes_(outcomes),
        threads_(std::min<unsigned>(options.threads, cut_.parts), kLcoreHooks),
        lookahead_(cut_.lookahead) {}
  tl::expected<void, std::string> make_parts(const sender::Traces& traces, uint64_t seed);
  uint32_t add_node(uint32_t part, size_t inputs);
  void number_nodes();
  void lay_cables(const Options& options);
  tl::expected<void, std::string> add_router(size_t r, const Options& options);
  tl::expected<void, std::string> add_gateways(const Options& options);
  tl::expected<void, std::string> add_host(uint32_t h, const sender::Traces& traces,
                                           const Options& options);
  void stall(uint32_t i, Nanos time);
  void wake(uint32_t i, Nanos at) { parts_[nodes_[i].part]->schedule.wake(nodes_[i].place, at); }
  void poll(Part& part, uint32_t place);
  void wake_handed(Part& part, const Node& node, Nanos now);
  /// When a part is polled that has something due at `at`.
  [[nodiscard]] Nanos poll_time(const Part& part, Nanos at) const;
  /// When the next part is polled, at the earliest.
  [[nodiscard]] Nanos next_poll() const;
  void play_window(Part& part, Nanos end);
  static void find_sent(Part& part);

  const config::Topology& topology_;
  std::unique_ptr<const config::Topology> reloaded_;  // that routers have taken last; null: none
  Cut cut_;
  Pool source_pool_, router_pool_;  // separate: packets that routers make vary in layout
  KeptOutcomes outcomes_;
  std::vector<std::unique_ptr<Part>> parts_;
  Threads threads_;
  Nanos lookahead_;
  std::vector<SimLink> links_;                               // by link
  std::vector<std::vector<uint32_t>> worker_nodes_;          // by router
  std::vector<uint32_t> host_nodes_;                         // by host
  std::vector<std::unique_ptr<gateway::Gateway>> gateways_;  // end after the routers' workers
  std::vector<std::unique_ptr<router::Router>> routers_;
  std::vector<std::unique_ptr<sender::Sender>> hosts_;
  std::vector<sender::Sender*> senders_;
  std::vector<Node> nodes_;
  Nanos now_{0};
  Windows windows_;
  double busy_ = 0;  // polls in a window, on average
};

}  // namespace turnpike::lab
