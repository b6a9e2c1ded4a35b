// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/xcp/link.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/protocols/relaxed.h"

namespace turnpike::xcp {
namespace {

constexpr double kMinRtt = 1e-9, kMaxRtt = 4.3;  // s, of a header

}  // namespace

Link::Link(const ParamValues& params, unsigned shards)
    : LinkLaw(
          {.rewritten = {kFeedbackOffset, kFeedbackOffset + sizeof(float)}, .wants_dequeue = true}),
      alpha_(params[kAlpha]),
      beta_(params[kBeta]),
      gamma_(params[kGamma]),
      least_interval_(params[kMinInterval]),
      most_interval_(std::max(params[kMinInterval], params[kMaxInterval])),
      average_rtt_(params[kFirstRtt]),
      sums_(shards),
      given_(std::make_unique<Given[]>(shards)),
      parts_(std::make_unique<Part[]>(shards)),
      departed_(shards),
      test_every_(params[kTestEvery]),
      tests_(test_every_ > 0),
      residues_(static_cast<Residues>(params[kResidues])) {
  for (unsigned i = 0; i < shards; ++i)
    parts_[i].responsiveness.test_every(from_seconds(params[kTestEvery]));
}

bool Link::take_settings(LinkLaw& made, std::span<const uint16_t> /*groups*/) {
  const auto* m = dynamic_cast<const Link*>(&made);
  if (m == nullptr) return false;
  alpha_ = m->alpha_;
  beta_ = m->beta_;
  gamma_ = m->gamma_;
  least_interval_ = m->least_interval_;
  most_interval_ = m->most_interval_;
  residues_ = m->residues_;
  if (test_every_ != m->test_every_)
    for (size_t i = 0; i < departed_.size(); ++i)
      parts_[i].responsiveness.test_every(from_seconds(m->test_every_));
  test_every_ = m->test_every_;
  tests_ = m->tests_;
  return true;
}

uint64_t Link::arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                      Nanos /*now*/) {
  if (burst.empty()) return 0;
  ShardSums<kFields>::Values sums{};
  uint64_t refused = 0;
  for (size_t i = 0; i < burst.size(); ++i) {
    const LinkPacket& p = burst[i];
    sums[kBytes] += p.size;
    if (p.header == nullptr) continue;
    const Header h = load(p.header);
    if (!credible(h)) {
      refused |= uint64_t{1} << i;
    } else if (h.rtt_ns != 0) {
      sums[kFlow] += h.flow;
      sums[kFlowRtt] += double{h.flow} * h.rtt_ns;
    }
  }
  sums_.add(index, sums);

  Part& part = parts_[index];
  const uint64_t watch = watch_.load(std::memory_order_acquire);
  const bool first = part.seen.load(std::memory_order_relaxed) != watch;
  write(part.least_queue, first ? link.queue : std::min(read(part.least_queue), link.queue));
  part.seen.store(watch, std::memory_order_relaxed);
  return refused;
}

void Link::begin(unsigned index, uint64_t interval) {
  Part& part = parts_[index];
  part.interval = interval;
  part.up = read(given_[index].up);
  part.down = read(given_[index].down);
  part.xi_up = read(xi_up_);
  part.xi_down = read(xi_down_);
}

// If a link upstream allows less than this one would, the flow's decrease grows by the difference,
// on top of its own share and as far as decreases are left: increases less decreases equal its
// feedback (draft-falk-xcp-spec), and other flows' decreases shrink by as much. The paper's
// pseudo-code ignores the flow's own share, so that decreases exceed the capacity which the flow
// leaves, and the link stays partly idle.
float Link::feedback(Part& part, const Header& h, double size) const {
  double up = part.xi_up * h.flow, down = part.xi_down * size;
  const double own = up - down, given = h.feedback;
  if (given < own) {
    if (residues_ == Residues::kNet) {
      down = std::min(part.down, down + (own - given));
      up = std::max(0.0, given + down);
    } else {
      up = std::max<double>(given, 0);
      down = std::max(own, 0.0) - given;
    }
  }
  part.up = std::max(0.0, part.up - up);
  part.down = std::max(0.0, part.down - down);
  if (part.up <= 0) part.xi_up = 0;
  if (part.down <= 0) part.xi_down = 0;
  return static_cast<float>(std::min(given, own));
}

void Link::depart(unsigned index, std::span<LinkPacket> burst, const LinkState& /*link*/,
                  Nanos now) {
  Part& part = parts_[index];
  const uint64_t interval = interval_.load(std::memory_order_acquire);
  if (part.interval != interval) begin(index, interval);
  double bytes = 0;
  for (const LinkPacket& p : burst) {
    bytes += p.size;
    if (p.header == nullptr) continue;
    const Header h = load(p.header);
    // A flow that has just begun has no round trip: its window may stay as it is.
    const float f = h.rtt_ns == 0 ? std::min(h.feedback, 0.0F) : feedback(part, h, p.size);
    wire::store_f32(p.header + kFeedbackOffset,
                    part.responsiveness.feedback(p.flow, h, p.size, f, now));
  }
  write(part.departed, read(part.departed) + bytes);
}

void Link::divide(double up, double down) {
  double all = 0;
  for (size_t i = 0; i < departed_.size(); ++i) {
    const double total = read(parts_[i].departed);
    departed_[i].since = total - std::exchange(departed_[i].before, total);
    all += departed_[i].since;
  }
  for (size_t i = 0; i < departed_.size(); ++i) {
    const double share =
        all > 0 ? departed_[i].since / all : 1 / static_cast<double>(departed_.size());
    write(given_[i].up, up * share);
    write(given_[i].down, down * share);
  }
}

Nanos Link::update(const LinkState& link, Nanos now) {
  if (now >= watch_ends_) end_watch(link, now);
  if (now >= interval_ends_) end_interval(link, now);
  return std::min(watch_ends_, interval_ends_);
}

void Link::end_watch(const LinkState& link, Nanos now) {
  const uint64_t ended = watch_.load(std::memory_order_relaxed);
  persistent_queue_ = link.queue;
  for (size_t i = 0; i < departed_.size(); ++i)
    if (parts_[i].seen.load(std::memory_order_relaxed) == ended)
      persistent_queue_ = std::min(persistent_queue_, read(parts_[i].least_queue));
  watch_.store(ended + 1, std::memory_order_release);
  const double propagation = read(average_rtt_) - link.queue / link.capacity;
  watch_ends_ = now + from_seconds(std::clamp(propagation, least_interval_, most_interval_));
}

void Link::end_interval(const LinkState& link, Nanos now) {
  const auto sums = sums_.take();
  const uint64_t ended = interval_.load(std::memory_order_relaxed);
  const double d = read(average_rtt_);
  if (now > last_ && ended > 0) {
    const double length = to_seconds(now - last_);
    const double traffic = sums[kBytes] / length * d;  // B per round trip
    const double phi = alpha_ * (d * link.capacity - traffic) - beta_ * persistent_queue_;
    const double shuffled = std::max(0.0, gamma_ * traffic - std::fabs(phi));
    const double up = (shuffled + std::max(phi, 0.0)) / d;
    const double down = (shuffled + std::max(-phi, 0.0)) / d;
    const bool flows = sums[kFlow] > 0;
    // The sums cover the interval that ended, which may have been longer than d.
    write(xi_up_, flows ? up / (sums[kFlow] / length * d) : 0);
    write(xi_down_, traffic > 0 ? down / traffic : 0);
    divide(up, down);
    // Sums are differences of totals: where headers carry almost nothing, they are rounding errors.
    if (flows)
      write(average_rtt_, std::clamp(1e-9 * sums[kFlowRtt] / sums[kFlow], kMinRtt, kMaxRtt));
  }
  last_ = now;
  interval_.store(ended + 1, std::memory_order_release);
  interval_ends_ =
      now + from_seconds(std::clamp(read(average_rtt_), least_interval_, most_interval_));
}

double Link::shared_out() const {
  double all = 0;
  for (size_t i = 0; i < departed_.size(); ++i) all += read(given_[i].up) - read(given_[i].down);
  return all;
}

size_t Link::gauges(std::span<Gauge> out) const {
  uint64_t tested = 0, unresponsive = 0;
  Nanos verdict{0};
  for (size_t i = 0; i < departed_.size(); ++i) {
    tested += parts_[i].responsiveness.tested();
    unresponsive += parts_[i].responsiveness.guilty();
    verdict = std::max(verdict, parts_[i].responsiveness.slowest_verdict());
  }
  if (!tests_) out = out.first(std::min<size_t>(2, out.size()));
  return write_gauges(out, {{"average_rtt_ms", read(average_rtt_) * 1e3},
                            {"shared_out_mbps", shared_out() * 8e-6},
                            {"tested", static_cast<double>(tested)},
                            {"unresponsive", static_cast<double>(unresponsive)},
                            {"slowest_verdict_ms", to_seconds(verdict) * 1e3}});
}

}  // namespace turnpike::xcp
