// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/multicast/tree_flow.h"

#include <algorithm>
#include <bit>

namespace turnpike::router {

namespace {

using wire::Kind;

/// Packets [begin, end) that all branches have, in a window of bits.
class CommonBits {
 public:
  explicit CommonBits(uint32_t base) : base_(base) { words_.fill(~uint64_t{0}); }

  void intersect(const std::array<uint64_t, Arrived::kWords>& words) {
    for (size_t w = 0; w < words.size(); ++w) words_[w] &= words[w];
  }
  [[nodiscard]] bool has(uint32_t sequence) const {
    return sequence - base_ < Arrived::kWindow &&
           (words_[sequence / 64 % Arrived::kWords] >> (sequence % 64) & 1) != 0;
  }
  /// Last packet at or before `sequence` that is or is not common; before the base: the base - 1.
  [[nodiscard]] uint32_t last(uint32_t sequence, bool common) const {
    while (sequence - base_ < Arrived::kWindow && has(sequence) != common) --sequence;
    return sequence;
  }

 private:
  uint32_t base_;
  std::array<uint64_t, Arrived::kWords> words_;
};

}  // namespace

void TreeFlow::begin(uint32_t flow, Nanos now) {
  for (Branch& b : branches_) b = Branch{};
  flow_ = flow;
  base_ = 0;
  upstream_ = 0;
  used_ = true;
  finished_ = false;
  last_report_ = now;
  waiting_since_ = kNever;
}

void TreeFlow::note(Branch& branch, const BranchReport& report, Nanos now) {
  if (branch.out) {
    branch.out = false;
    if (report.kind == Kind::kAck) branch.arrived.add_before(report.request.sequence, base_);
  }
  branch.last_report = now;
  branch.price = report.header.price;
  branch.arrived.add_before(report.acknowledgement, base_);
  for (const wire::SeqRange& r : report.ranges) branch.arrived.add(r.begin, r.end, base_);
  if (report.kind == Kind::kAck)
    branch.arrived.add(report.request.sequence, report.request.sequence + 1, base_);
}

void TreeFlow::leave_out_silent(Nanos now, Nanos timeout) {
  if (waiting_since_ == kNever || now - waiting_since_ <= timeout) return;
  for (Branch& b : branches_)
    if (b.last_report < waiting_since_) b.out = true;
  waiting_since_ = now;
}

bool TreeFlow::complete(unsigned branch, const BranchReport& report,
                        std::span<const AnswerLog> logs) const {
  for (unsigned b = 0; b < branches_.size(); ++b) {
    if (b == branch || branches_[b].out) continue;
    const LoggedAnswer* other = logs[b].find(report.request);
    const bool answered =
        other != nullptr
            ? !wire::serial_before(other->echo, report.echo)
            // Too many answers ago, or lost: a later one acknowledges the packet.
            : report.kind == Kind::kAck && branches_[b].arrived.has(report.request.sequence, base_);
    if (!answered) return false;
  }
  return true;
}

void TreeFlow::advance_base() {
  bool any = false;
  uint32_t next = 0;
  for (const Branch& b : branches_) {
    if (b.out) continue;
    const uint32_t expected = b.arrived.expected();
    if (!any || wire::serial_before(expected, next)) next = expected;
    any = true;
  }
  if (!any || !wire::serial_before(base_, next)) return;
  for (Branch& b : branches_) b.arrived.move(base_, next);
  base_ = next;
}

// The range that holds the answered packet comes first, then those below it, as a receiver writes
// them.
void TreeFlow::write_ranges(uint32_t sequence, JoinedAnswer& out) const {
  if (wire::serial_before(sequence, base_) || sequence - base_ >= Arrived::kWindow) return;
  CommonBits common(base_);
  for (const Branch& b : branches_)
    if (!b.out) common.intersect(b.arrived.words());
  uint32_t end = sequence;
  while (common.has(end)) ++end;
  uint32_t at = end - 1;  // last packet of a range
  while (out.ranges < wire::kMaxRanges && common.has(at)) {
    const uint32_t gap = common.last(at, false);
    out.range[out.ranges++] = {gap + 1, at + 1};
    at = common.last(gap, true);
  }
}

bool TreeFlow::join(unsigned branch, const BranchReport& report, float upstream,
                    std::span<AnswerLog> logs, Nanos now, Nanos timeout, JoinedAnswer& out) {
  last_report_ = now;
  upstream_ = upstream;
  note(branches_[branch], report, now);
  logs[branch].store(report.request, report.echo, report.header);
  leave_out_silent(now, timeout);
  advance_base();
  if (!complete(branch, report, logs)) {
    if (waiting_since_ == kNever) waiting_since_ = now;
    return false;
  }
  waiting_since_ = kNever;
  finished_ = report.kind == Kind::kFinAck;
  out = {.acknowledgement = base_, .header = {.price = upstream}};
  for (unsigned b = 0; b < branches_.size(); ++b) {
    if (branches_[b].out) continue;
    const LoggedAnswer* answer = logs[b].find(report.request);
    fcp::add_branch(out.header,
                    answer != nullptr ? answer->header : fcp::BranchAnswer{branches_[b].price});
  }
  if (report.kind == Kind::kAck) write_ranges(report.request.sequence, out);
  return true;
}

bool TreeFlow::leave(unsigned branch) {
  branches_[branch].out = true;
  return std::ranges::all_of(branches_, &Branch::out);
}

}  // namespace turnpike::router
