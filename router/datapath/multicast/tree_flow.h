// SPDX-License-Identifier: BSD-3-Clause
// Joins the answers of a tree's branches to one flow into one answer per request.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/protocols/fcp/branch.h"
#include "common/units/units.h"
#include "common/wire/turnpike_header.h"
#include "router/datapath/multicast/answer_log.h"
#include "router/datapath/multicast/arrived.h"

namespace turnpike::router {

/// An answer as a branch sends it: a receiver's, or joined by the next router.
struct BranchReport {
  RequestId request;
  wire::Kind kind = wire::Kind::kAck;
  uint32_t acknowledgement = 0;
  uint32_t echo = 0;
  std::span<const wire::SeqRange> ranges;
  fcp::BranchAnswer header;
};

/// The answer for the root. Price and bounds are those of the whole tree from the root on.
struct JoinedAnswer {
  uint32_t acknowledgement = 0;
  uint8_t ranges = 0;
  std::array<wire::SeqRange, wire::kMaxRanges> range{};
  fcp::BranchAnswer header;
};

/// The state of one flow at a branching router. A request is answered once all branches have
/// answered it, so the root gets one answer per packet, at the pace of the slowest branch, and its
/// round trip is that branch's. The joined answer acknowledges the packets that arrived on all
/// branches. A branch that is silent for longer than `timeout` while others answer is left out,
/// until it answers again; packets that it missed meanwhile are not repeated. The paper aggregates
/// by time instead (CMU-CS-12-125, section 4.2).
///
/// No allocation after construction. Used by one thread.
class TreeFlow {
 public:
  explicit TreeFlow(size_t branches) : branches_(branches) {}

  /// Begins a flow anew.
  void begin(uint32_t flow, Nanos now);

  /// Takes a branch's answer. True: `out` is the answer to send to the root. `logs`: of the tree's
  /// branches. `upstream`: price at which the request arrived here, $/B.
  bool join(unsigned branch, const BranchReport& report, float upstream, std::span<AnswerLog> logs,
            Nanos now, Nanos timeout, JoinedAnswer& out);

  /// A branch refuses the flow (RESET) and is left out. True: it was the last one.
  bool leave(unsigned branch);

  [[nodiscard]] bool used() const { return used_; }
  [[nodiscard]] uint32_t flow() const { return flow_; }
  [[nodiscard]] Nanos last_report() const { return last_report_; }
  /// Whether data has been acknowledged.
  [[nodiscard]] bool under_way() const { return base_ != 0; }
  /// Whether the answer to the FIN of all branches has been sent to the root.
  [[nodiscard]] bool finished() const { return finished_; }
  /// Upstream price of the latest request that was answered, $/B.
  [[nodiscard]] float upstream() const { return upstream_; }

 private:
  struct Branch {
    Arrived arrived;
    Nanos last_report{0};
    float price = 0;   // of its latest answer, $/B
    bool out = false;  // left out
  };

  void note(Branch& branch, const BranchReport& report, Nanos now);
  void leave_out_silent(Nanos now, Nanos timeout);
  [[nodiscard]] bool complete(unsigned branch, const BranchReport& report,
                              std::span<const AnswerLog> logs) const;
  void advance_base();
  void write_ranges(uint32_t sequence, JoinedAnswer& out) const;

  std::vector<Branch> branches_;
  uint32_t flow_ = 0;
  uint32_t base_ = 0;  // first packet that some branch lacks
  float upstream_ = 0;
  bool used_ = false, finished_ = false;
  Nanos last_report_{0};
  Nanos waiting_since_{kNever};  // first answer since the last joined one
};

}  // namespace turnpike::router
