// SPDX-License-Identifier: BSD-3-Clause
// Keeps a RouteSink equal to the kernel's routes and neighbours, by netlink. It reads the whole
// state again whenever messages may be missing, and says so.
//
// Example:
//
//     #include "router/linux/route_map.h"
//
//     RouteMap table;           // the forwarding tables, another RouteSink
//     KernelListener listener;  // overridden to report links and resynchronisations
//     const Interfaces::Names taps{{"port0", 0}, {"port1", 1}};  // TAP interface -> link
//     const auto reader =
//         KernelReader::open({.sink = table, .listener = listener, .interfaces = taps});
//     if (!reader) return;  // reader.error() says why
//     const Nanos due = (*reader)->poll(10_us);
//     // Again at `due`, or before it when one of (*reader)->fds() is readable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "router/linux/dump.h"
#include "router/linux/kernel_state.h"
#include "router/linux/neighbour_probes.h"
#include "router/linux/neighbour_requests.h"
#include "router/linux/netlink_socket.h"

namespace turnpike::router {

struct ReaderCounts {
  uint64_t notifications = 0;  // messages
  uint64_t dumped = 0;         // messages of dumps
  uint64_t malformed = 0;      // messages that were too short
  uint64_t overruns = 0;       // times that the kernel reported ENOBUFS
  uint64_t lost = 0;           // messages that it dropped
  uint64_t interrupted = 0;    // dumps repeated because of NLM_F_DUMP_INTR
  uint64_t failed = 0;         // dumps that the kernel refused or that stopped
  std::array<uint64_t, static_cast<size_t>(ResyncReason::kCount)> resyncs{};
  Nanos last_resync{0}, longest_resync{0};  // durations
  uint64_t resolve_asked = 0, resolve_recent = 0, resolve_too_many = 0, resolve_failed = 0;
  uint64_t probed = 0, not_probed = 0;  // neighbours; not: too many waited
};

class KernelReader {
 public:
  struct Limits {
    size_t receive_buffer = size_t{64} << 20;  // B, of notifications
    size_t batches = 64;                       // of 16 notifications that a poll reads, at most
    size_t dump_batches = 2;                   // of 16 datagrams of 32 KiB, some 500 routes each
    Nanos period{30'000'000'000};              // between resynchronisations
    Nanos debounce{100'000'000};               // from the last change that may need one
    Nanos max_debounce{1'000'000'000};         // from the first such change
    Nanos patience{2'000'000'000};             // a dump that sends nothing for so long has failed
    NeighbourRequests::Limits neighbours = {};
    NeighbourProbes::Limits probes = {};
  };
  struct Parts {
    RouteSink& sink;  // outlives it, like the listener
    KernelListener& listener;
    Interfaces::Names interfaces = {};  // name of an interface -> link that it mirrors
    Distances distances = default_distances();
    Limits limits = {};
  };

  /// Opens the sockets in the thread's network namespace; the first poll() begins to read.
  static tl::expected<std::unique_ptr<KernelReader>, std::string> open(const Parts& parts);

  /// Reads a bounded number of messages and commits their changes. Returns when to call again if
  /// neither descriptor becomes readable before; `now`: at once, there is more to do. A
  /// resynchronisation is one commit at its end; notifications wait for it in the kernel.
  Nanos poll(Nanos now);

  /// The descriptors of notifications and of dumps, both to be watched for reading.
  [[nodiscard]] std::array<int, 2> fds() const { return {notifications_.fd(), requests_.fd()}; }

  /// Whether all that the kernel had told when poll() was called last has been committed, since
  /// the last resynchronisation that was needed.
  [[nodiscard]] bool settled() const { return drained_ && !dump_ && !wanted_; }

  /// Reads the whole state again at the next poll().
  void resync(Nanos now) { want(ResyncReason::kRequested, now, now); }

  /// Other links from now on.
  void set_interfaces(Interfaces::Names names) { state_.set_interfaces(std::move(names)); }

  /// Asks the kernel to resolve a neighbour, as if it had a packet for it (NTF_USE). The sink
  /// learns the result. Returns whether the kernel was asked: not if it was lately, if too many
  /// are asked for, or if the link has no interface now.
  bool resolve(size_t link, const Address& address, Nanos now);
  // Neighbours on links that the kernel has not heard of for a while it is asked to probe, by
  // itself: packets that the router forwards to them do not keep them alive.

  [[nodiscard]] const ReaderCounts& counts() const { return counts_; }
  [[nodiscard]] const KernelState& state() const { return state_; }
  /// The kernel's limit in B for waiting notifications.
  [[nodiscard]] size_t receive_buffer() const { return notifications_.receive_buffer(); }

 private:
  KernelReader(const Parts& parts, NetlinkSocket notifications, NetlinkSocket requests);
  void want(ResyncReason reason, Nanos now, Nanos due);
  void read_notifications(Nanos now);
  void read_replies();
  void probe_neighbours(Nanos now);
  bool use_neighbour(size_t link, const Address& address);
  void begin_resync(Nanos now);
  void continue_resync(Nanos now);
  void finish_resync(Nanos now, Dump::Progress result);
  uint64_t newly_lost();

  Limits limits_;
  NetlinkSocket notifications_, requests_;
  KernelState state_;
  KernelListener& listener_;
  NeighbourRequests asked_;
  NeighbourProbes probes_;
  ReaderCounts counts_;

  struct Wanted {
    ResyncReason reason;
    Nanos since, due;
  };
  std::optional<Wanted> wanted_;  // resynchronisation
  std::optional<Dump> dump_;      // the current one
  Resync current_;
  Nanos started_{0}, progress_{0};  // of the current one
  Nanos not_before_{0};             // of the next one
  Nanos next_periodic_{0};
  bool drained_ = false;    // the last read found no more notifications
  bool replaying_ = false;  // notifications from during the last dump may follow
  uint32_t sequence_ = 0;
};

}  // namespace turnpike::router
