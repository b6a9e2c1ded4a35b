// SPDX-License-Identifier: BSD-3-Clause
// All figures that an operator may see of a running router, read at one time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/dpdk/port.h"
#include "common/metrics/histogram.h"
#include "common/units/units.h"
#include "router/datapath/stage_times.h"
#include "router/results/accounts.h"
#include "router/snapshot.h"

namespace turnpike::router {

/// One worker's lcore since the start.
struct LcoreFigures {
  unsigned lcore = 0;      // CPU
  Nanos busy{0}, idle{0};  // time of polls that moved a packet, and of others with their sleeps
  uint64_t busy_polls = 0, idle_polls = 0;
  uint64_t stalls = 0;                           // times in which the machine did not run it
  Nanos stalled{0};                              // in neither `busy` nor `idle`
  std::array<uint64_t, kStages> stage_cycles{};  // of the TSC, in the timed polls
  uint64_t timed_packets = 0, timed_polls = 0;   // see StageTimes
};

/// The port of a link.
struct PortFigures {
  std::string link, device;
  std::string driver = {}, offloads = {};
  bool up = false;
  PortStats stats = {};
  std::optional<FlowControl> flow_control = {};  // in force; none: the driver does not tell
  std::vector<ExtendedStat> extended = {};       // names live as long as the port
  size_t omitted = 0;                            // extended statistics that are not read
};

/// Of the program and the machine that it runs on.
struct BuildFigures {
  std::string version, commit, dpdk;
};

/// Changes of the configuration since the start.
struct ChangeFigures {
  uint64_t applied = 0, refused = 0, reverted = 0;
  metrics::Histogram pauses;  // of the workers, ns: from the request to hold them to their release
  Nanos last_pause{0};
  double last = 0;           // UNIX time of the last applied or reverted one, s; 0: none yet
  bool unconfirmed = false;  // one waits for its confirmation
  uint64_t kept = 0;         // configurations in the history, the one in use included
};

/// Of the reader of the kernel's routes and neighbours.
struct NetlinkFigures {
  uint64_t messages = 0, malformed = 0, overruns = 0, lost = 0, failed_dumps = 0;
  std::vector<std::pair<std::string_view, uint64_t>> resyncs;  // by reason
  Nanos last_resync{0};                                        // its duration
  Nanos lag{0};  // time for which messages or a resynchronisation have waited; 0: none does
  uint64_t receive_buffer = 0;                             // B
  uint64_t ipv4_routes = 0, ipv6_routes = 0, no_room = 0;  // of the router's tables; not in the FIB
  uint64_t neighbours = 0, unresolved = 0;                 // with a MAC address; without
  uint64_t asked = 0, repeated = 0, too_many = 0, failed = 0;  // requests to resolve a neighbour
};

/// A peer of a gateway.
struct PeerFigures {
  std::string_view name;
  bool silent = false;  // at present
};

/// Packets of tunnels that a gateway refused.
struct GatewayFigures {
  uint64_t bad = 0, unknown_peers = 0, wrong_tokens = 0;
  // Where tunnels are sealed:
  uint64_t wrong_tags = 0, unknown_keys = 0, unsealed = 0;
};

/// Requests to the server of metrics.
struct RequestFigures {
  uint64_t served = 0, refused = 0, cut = 0;
};

/// Counters since the start, except where a name says otherwise.
struct Figures {
  std::string node;
  BuildFigures build;
  double started = 0;       // UNIX time, s
  double updated = 0;       // UNIX time, s
  Nanos time{0};            // of the router's clock
  uint64_t generation = 1;  // of the configuration: 1 + changes applied since the start
  ChangeFigures changes;
  std::optional<NetlinkFigures> netlink;  // none: Linux is not the control plane
  RequestFigures requests;
  Snapshot counters;
  std::vector<metrics::Histogram> waits;  // by link: waiting times in its queue, ns
  std::vector<PortFigures> ports;         // by link
  std::vector<LcoreFigures> lcores;       // by worker
  std::vector<CustomerSnapshot> customers;
  std::vector<OffenderSnapshot> offenders;
  std::vector<Account> accounts;          // of a gateway's customers
  std::vector<PeerFigures> peers;         // of a gateway
  std::optional<GatewayFigures> gateway;  // none: the router is none
  uint64_t account_failures = 0;          // accounts that could not be written when they were due
};

}  // namespace turnpike::router
