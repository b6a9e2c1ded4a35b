// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/coexistence/link.h"

#include <algorithm>

#include "common/protocols/aqm/params.h"
#include "common/protocols/coexistence/params.h"
#include "common/protocols/relaxed.h"
#include "common/protocols/sorted_burst.h"
#include "common/protocols/tcp/link.h"

namespace turnpike::coexistence {
namespace {

constexpr double kMinLoss = 1e-6;  // least loss for which the throughput equation is evaluated
constexpr Nanos kMinStep = 1_ms, kMaxStep = 10_s;

// Class of a packet: the scheme's own or TCP's.
unsigned class_of(const LinkPacket& p) { return p.header != nullptr ? 0 : 1; }

}  // namespace

Link::Link(std::unique_ptr<LinkLaw> own, std::unique_ptr<LinkLaw> tcp, Reader read, double kappa,
           double loss_memory, unsigned shards)
    : LinkLaw({.rewritten = own->traits().rewritten,
               .classes = 2,
               .marks_or_drops = own->traits().marks_or_drops || tcp->traits().marks_or_drops,
               .wants_dequeue = own->traits().wants_dequeue || tcp->traits().wants_dequeue,
               .flows = own->traits().flows}),
      own_(std::move(own)),
      tcp_(std::move(tcp)),
      read_(read),
      loss_gain_(1 / loss_memory),
      kappa_(kappa),
      share_(kappa),
      sums_(shards) {}

bool Link::take_settings(LinkLaw& made, std::span<const uint16_t> groups) {
  auto* m = dynamic_cast<Link*>(&made);
  if (m == nullptr || !tcp_->take_settings(*m->tcp_, groups)) return false;
  if (!own_->take_settings(*m->own_, groups)) return false;
  take_traits(made);
  loss_gain_ = m->loss_gain_;
  kappa_ = m->kappa_;
  share_.set_gain(kappa_);
  due_ = {};
  return true;
}

// A class's buffer is its share of the link's: AQM thresholds are relative to the buffer. With the
// whole buffer, a share of the link would queue much longer, and flows with equal windows would not
// have equal rates.
LinkState Link::part(const LinkState& link, Class c) const {
  const double share = weight(c);
  return {
      .capacity = share * link.capacity, .queue = link.queues[c], .buffer = share * link.buffer};
}

double Link::weight(unsigned queue_class) const {
  const double tcp = read(tcp_share_);
  return queue_class == kTcp ? tcp : 1 - tcp;
}

uint64_t Link::arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                      Nanos now) {
  uint64_t refused = 0;
  SortedBurst sorted(burst, class_of);
  for (const Class c : {kOwn, kTcp}) {
    const uint64_t bits = law(c).arrive(index, sorted.packets(c), part(link, c), now);
    refused |= sorted.give_back(burst, c, bits);
    count(index, sorted.packets(c), c);
  }
  return refused;
}

void Link::count(unsigned index, std::span<const LinkPacket> burst, Class c) {
  if (burst.empty()) return;
  ShardSums<kFields>::Values sums{};
  for (const LinkPacket& p : burst) {
    if (c == kOwn) {
      const Told t = read_(p.header, p.size);
      sums[kFlow] += t.flow;
      sums[kFlowWindow] += t.flow_window;
      sums[kFlowRtt] += t.flow_rtt;
    } else {
      sums[kPackets] += 1;
      sums[kBytes] += p.size;
      if (!p.admitted || p.action != AqmAction::kPass) sums[kLost] += 1;
    }
  }
  sums_.add(index, sums);
}

void Link::depart(unsigned index, std::span<LinkPacket> burst, const LinkState& link, Nanos now) {
  SortedBurst sorted(burst, class_of);
  for (const Class c : {kOwn, kTcp}) {
    if (!law(c).traits().wants_dequeue || sorted.packets(c).empty()) continue;
    law(c).depart(index, sorted.packets(c), part(link, c), now);
  }
}

Nanos Link::update(const LinkState& link, Nanos now) {
  for (const Class c : {kOwn, kTcp})
    if (now >= due_[c]) due_[c] = law(c).update(part(link, c), now);
  if (now >= step_due_) {
    step();
    step_due_ = now + rtt_;
  }
  return min(min(due_[kOwn], due_[kTcp]), step_due_);
}

void Link::step() {
  const auto sums = sums_.take();
  const double sample = sums[kPackets] > 0 ? sums[kLost] / sums[kPackets] : 0;
  write(loss_, read(loss_) + loss_gain_ * (sample - read(loss_)));
  if (sums[kPackets] > 0) packet_ = sums[kBytes] / sums[kPackets];
  // Without flows of the scheme TCP uses the whole link, and the shares stay as they are.
  if (sums[kFlow] <= 0) return;
  const double own = sums[kFlowWindow] / sums[kFlow];
  const double tcp = packet_ * tcp_window(std::max(read(loss_), kMinLoss));
  share_.step(own, tcp);
  write(tcp_share_, share_.tcp());
  write(own_window_, own / packet_);
  write(tcp_window_, tcp / packet_);
  rtt_ = std::clamp(from_seconds(sums[kFlowRtt] / sums[kFlow]), kMinStep, kMaxStep);
}

size_t Link::gauges(std::span<Gauge> out) const {
  const size_t n = own_->gauges(out);
  return n + write_gauges(out.subspan(n), {{"tcp_share", read(tcp_share_)},
                                           {"tcp_loss", read(loss_)},
                                           {"tcp_window_packets", read(tcp_window_)},
                                           {"own_window_packets", read(own_window_)}});
}

std::unique_ptr<LinkLaw> beside_tcp(std::unique_ptr<LinkLaw> own, Reader read,
                                    const ParamValues& params, size_t first, unsigned shards,
                                    uint64_t seed) {
  const double queue = params[first + kTcpQueue];
  if (queue == kShared) return own;
  ParamValues discipline(aqm::kLinkParams);
  discipline[aqm::kDiscipline] = queue - 1;
  return std::make_unique<Link>(std::move(own), tcp::make_link(discipline, shards, seed), read,
                                params[first + kKappa], params[first + kLossMemory], shards);
}

}  // namespace turnpike::coexistence
