// SPDX-License-Identifier: BSD-3-Clause
// The record of a traced packet: the stages that it passed, and how its path ended.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/units/units.h"
#include "router/control/next_hop.h"
#include "router/datapath/burst.h"

namespace turnpike::router {

/// The stages of Worker::poll() in their order.
enum class TraceStage : uint8_t {
  kRx,
  kParse,
  kIdentify,  // source check and customers, where the file asks for them
  kLookup,
  kCharge,      // customers' budgets
  kTunnel,      // where the router is a gateway
  kMulticast,   // packets to a group only
  kLocalInput,  // packets to the router itself, and those to be fragmented
  kPolice,
  kPrice,
  kEnqueue,
  kTx,
  kCount,
};
inline constexpr std::array<std::string_view, static_cast<size_t>(TraceStage::kCount)>
    kTraceStageNames{"rx",        "parse",       "identify", "lookup", "charge",  "tunnel",
                     "multicast", "local_input", "police",   "price",  "enqueue", "tx"};

/// How the packet left the stages.
enum class Outcome : uint8_t {
  kQueued,      // in the link's queue, or with the port: a record of its departure follows
  kDropped,     // for `reason`
  kDelivered,   // to the router itself
  kReplicated,  // to the branches of a tree, or combined there
  kFragmented,  // replaced by fragments
  kTunnelled,   // in the queue of a tunnel; a packet of the tunnel carries it on
  kSent,        // a departure: the port took it
  kCount,
};
inline constexpr std::array<std::string_view, static_cast<size_t>(Outcome::kCount)> kOutcomeNames{
    "queued", "dropped", "delivered", "replicated", "fragmented", "tunnelled", "sent"};

/// One packet of a trace. A packet that was queued has a second record of the same id when a port
/// takes it (kSent) or refuses it (kDropped); only id, time, outcome, link and reason of that
/// count.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): members in the order of the stages
struct TraceRecord {
  static constexpr size_t kFrame = 128;      // B of a frame that are kept
  static constexpr size_t kCongestion = 32;  // B: the longest congestion header

  uint32_t id = 0;
  Outcome outcome = Outcome::kQueued;
  bool departure = false;
  TraceStage last = TraceStage::kRx;  // the last stage that it reached
  DropReason reason = DropReason::kNone;
  uint16_t link = 0;     // of the departure
  uint32_t stages = 0;   // bit s: it passed stage s
  uint32_t length = 0;   // B of the frame as received
  uint32_t present = 0;  // B of `frame`
  uint16_t waiting = 0;  // packets in its burst
  Nanos time{0};         // of its poll, or of its departure
  PacketInfo info;       // as the stages filled it in; `hop` is meaningless
  NextHop hop;           // valid if it passed lookup
  double backlog = 0;    // B that waited before the link at its arrival
  double price = 0;      // $/B of the link by its law after this packet; 0: it has no law
  std::array<uint8_t, kCongestion> before{}, after{};  // its congestion header, around the law
  std::array<uint8_t, kFrame> frame{};                 // as received
};

}  // namespace turnpike::router
