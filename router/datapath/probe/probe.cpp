// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/probe/probe.h"

namespace turnpike::router {

// Known to this file alone, which is compiled apart from the stages: where the compiler sees a
// queue pair's class it compares every port's with it.
class Probe::Queue final : public QueuePair {
 public:
  Queue(const Probe::Parts& parts, unsigned link) : link_(link), trace_(parts.trace) {
    if (parts.mirror != nullptr && parts.mirror->wants_received(link)) received_ = parts.mirror;
    if (parts.mirror != nullptr && parts.mirror->wants_sent(link)) sent_ = parts.mirror;
    if (parts.flows != nullptr && parts.flows->wants_sent(link)) flows_ = parts.flows;
  }

  void attach(QueuePair& port) { port_ = &port; }
  [[nodiscard]] bool idle() const {
    return trace_ == nullptr && received_ == nullptr && sent_ == nullptr && flows_ == nullptr;
  }
  uint16_t rx(Nanos now, std::span<rte_mbuf*> out) override;
  uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) override;
  [[nodiscard]] Nanos next_deadline() const override { return port_->next_deadline(); }
  [[nodiscard]] uint32_t held() const override { return port_->held(); }

 private:
  static bool passes_by(Mirror* mirror, size_t packets) {
    return mirror == nullptr || mirror->passes_by(packets);
  }
  uint16_t tx_observed(Nanos now, std::span<rte_mbuf*> burst, Mirror* sent, Mirror* flows);

  unsigned link_;
  QueuePair* port_ = nullptr;
  Trace* trace_;
  // Those that want this link's packets.
  Mirror* received_ = nullptr;
  Mirror* sent_ = nullptr;
  Mirror* flows_ = nullptr;
};

Probe::Probe(const Parts& parts, size_t links) : parts_(parts) {
  queues_.reserve(links);
  for (unsigned l = 0; l < links; ++l) queues_.push_back(std::make_unique<Queue>(parts, l));
}

Probe::~Probe() = default;

QueuePair& Probe::before(unsigned link, QueuePair& port) {
  if (queues_[link]->idle()) return port;
  queues_[link]->attach(port);
  return *queues_[link];
}

void Probe::refused(const rte_mbuf& m, unsigned link, DropReason why, Nanos now) const {
  if (parts_.trace != nullptr) parts_.trace->dropped_later(m, link, why, now);
  if (parts_.mirror != nullptr) parts_.mirror->dropped(m, link, why, now);
}

uint16_t Probe::Queue::rx(Nanos now, std::span<rte_mbuf*> out) {
  const uint16_t n = port_->rx(now, out);
  if (!passes_by(received_, n)) [[unlikely]]
    received_->received(out.first(n), link_, now);
  return n;
}

// Most bursts have no packet of a sample: they pass with a comparison for each.
uint16_t Probe::Queue::tx(Nanos now, std::span<rte_mbuf*> burst) {
  Mirror* const sent = passes_by(sent_, burst.size()) ? nullptr : sent_;
  Mirror* const flows = passes_by(flows_, burst.size()) ? nullptr : flows_;
  if (sent == nullptr && flows == nullptr && trace_ == nullptr) [[likely]]
    return port_->tx(now, burst);
  return tx_observed(now, burst, sent, flows);
}

// The port may have freed or changed packets when it returns: all look at them before.
uint16_t Probe::Queue::tx_observed(Nanos now, std::span<rte_mbuf*> burst, Mirror* sent,
                                   Mirror* flows) {
  for (Mirror* const mirror : {sent, flows})
    if (mirror != nullptr) mirror->leaving(burst, link_, now);
  if (trace_ != nullptr) trace_->leaving(burst);
  const uint16_t taken = port_->tx(now, burst);
  for (Mirror* const mirror : {sent, flows})
    if (mirror != nullptr) mirror->left(taken, link_);
  if (trace_ != nullptr) trace_->left(taken, link_, now);
  return taken;
}

}  // namespace turnpike::router
