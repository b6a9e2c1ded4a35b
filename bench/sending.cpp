// SPDX-License-Identifier: BSD-3-Clause
#include "bench/sending.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include "common/config/load.h"
#include "common/units/text.h"

namespace turnpike::bench {
namespace {

constexpr double kBudget = 1;       // $/s
constexpr double kBeginning = 3.3;  // turns of a flow until all have begun
constexpr double kSettled = 1e-3;   // relative error of a rate: FCP's dead band

config::Topology topology_of(unsigned flows, double pps, Nanos rtt) {
  const std::string delay = to_text(rtt / 2);
  const std::string rate = to_text(BitRate(4 * pps * Sending::kPacket * 8));
  std::string text = "run: {duration: 1000 h}\nhosts: {a: {budget: 1 $/s}, b: {}}\nlinks: {ab: ";
  text.append("{ends: [a, b], rate: ").append(rate).append(", delay: ").append(delay);
  // Starts one flow after another, and slowly, so that their turns are evenly spaced although flows
  // that started together wait equally long for their rates. No flow ends.
  text.append("}}\ntraffic: {workloads: {load: {from: a, to: b, packet: 256 B, ");
  text.append("size: {fixed: 1000000 GB}, arrivals: {periodic: ");
  text.append(std::to_string(pps / kBeginning)).append(" /s}, on: ");
  text.append(to_text(from_seconds(kBeginning * flows / pps))).append(", off: 1000 h}}}\n");
  auto loaded = config::load_text(text, "bench");
  if (!loaded) throw std::runtime_error(loaded.error().front().text());
  return std::move(*loaded);
}

Pool small_pool() {
  // The port stores the packets on their way, so a few buffers are reused, as at a NIC.
  auto pool = Pool::create("bench", {.mbufs = 4095, .own_memory = true});
  if (!pool) throw std::runtime_error(pool.error());
  return std::move(*pool);
}

}  // namespace

Sending::Sending(unsigned flows, double pps, Nanos rtt)
    : flows_(flows),
      pps_(pps),
      rtt_(rtt),
      topology_(topology_of(flows, pps, rtt)),
      pool_(small_pool()) {
  const config::Interface &a = topology_.links[0].ends[0], &b = topology_.links[0].ends[1];
  // A flow's rate is its share of the budget over the price.
  const auto price = static_cast<float>(kBudget / (pps * kPacket));
  const auto under_way = static_cast<size_t>(2 * pps * to_seconds(rtt)) + 2 * size_t{flows} + 4096;
  port_ = std::make_unique<AnswerPort>(
      AnswerPort::Options{.back = answers_between(b, a, topology_.run.udp_port),
                          .rtt = rtt,
                          .price = price,
                          .under_way = std::bit_ceil(under_way)},
      pool_.get());
  const sender::PortBinding binding{0, port_.get()};
  auto made = sender::Sender::make(topology_, {.bindings = {&binding, 1},
                                               .pool = pool_.get(),
                                               .zeroed = true,
                                               .outcomes = ignore_,
                                               .tick_shift = 8});
  if (!made) throw std::runtime_error(made.error());
  sender_ = std::move(*made);
}

uint64_t Sending::poll(Nanos now) {
  const uint64_t before = port_->data();
  sender_->poll(now);
  return port_->data() - before;
}

Nanos Sending::warm_up() {
  const Nanos step = this->step() / kPerPoll;
  Nanos now{0};
  const auto& totals = sender_->hosts()[0]->totals();
  while (totals.opened_flows.read() < flows_) sender_->poll(now += step);
  // Packets announce shares of the budget, so a flow's rate takes a few of them to follow.
  const Nanos turn = std::max(rtt_, gap());
  for (const Nanos late = now + turn * 20; !at_their_rates();) {
    if (now >= late) throw std::runtime_error("bench: flows do not reach their rates");
    for (const Nanos end = now + turn; now < end;) sender_->poll(now += step * 8);
  }
  return now;
}

bool Sending::at_their_rates() {
  const double rate = kPacket * pps_ / flows_;
  size_t off = 0;
  sender_->lcore().flows.for_each([&](const sender::Flow& f) {
    if (std::abs(f.pacer.rate() - rate) > kSettled * rate) ++off;
  });
  // Some flows have only the rest of the budget; the other flows may keep that much too much of it.
  return off <= flows_ / 1000 + 1;
}

}  // namespace turnpike::bench
