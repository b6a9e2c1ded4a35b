// SPDX-License-Identifier: BSD-3-Clause
#include "sender/invariant.h"

#include <algorithm>
#include <utility>

#include "common/protocols/registry.h"
#include "common/units/text.h"

namespace turnpike::sender {
namespace {

// A second that begins and ends with a packet holds one more than its rate pays for, and a flow may
// owe another one (Pacer::reprice).
constexpr double kPacketsBeyond = 2;

std::string complaint(const std::string& host, Nanos now, const char* what, double amount,
                      double bound) {
  return host + " " + what + " " + to_text(Budget(amount)) + " of " + to_text(Budget(bound)) +
         " at " + to_text(now);
}

/// Whether a flow or workload is a declared cheater.
template <class Transfer>
bool cheats(const Transfer& t) {
  const Protocol* protocol = find_protocol(t.protocol);
  return protocol != nullptr && protocol->cheats != nullptr &&
         t.params.size() == protocol->flow_params.size() && protocol->cheats(t.params);
}

}  // namespace

Invariant::Invariant(const config::Topology& topology, Tolerance tolerance)
    : tolerance_(tolerance) {
  for (const config::Host& h : topology.hosts) {
    Watched& w = hosts_.emplace_back();
    w.name = h.name;
    w.shared = h.strategy != "each-flow";
    w.budget = h.budget.count();
  }
  const auto add = [&](size_t host, const auto& transfer) {
    Watched& w = hosts_[host];
    w.packet = std::max(w.packet, static_cast<double>(transfer.packet.count()));
    w.cheats |= cheats(transfer);
  };
  for (const config::Flow& f : topology.flows) add(f.from, f);
  for (const config::Workload& load : topology.workloads)
    for (const size_t from : load.from) add(from, load);
}

std::optional<std::string> Invariant::check(uint32_t host, const HostTotals& totals, Nanos now) {
  Watched& w = hosts_[host];
  if (w.cheats) return std::nullopt;
  const auto value = [](const auto& atomic) { return atomic.load(std::memory_order_relaxed); };
  const Look look{.at = now,
                  .spend = value(totals.spend) - value(totals.unbudgeted_spend),
                  .price = value(totals.price),
                  .active = value(totals.active_flows),
                  .opened = totals.opened_flows.read()};
  const double budget = value(totals.budget), committed = value(totals.committed);
  const double most = (w.shared ? 1 : look.active) * (1 + tolerance_.commitment);
  const double before = std::exchange(w.budget, std::max(budget, w.budget));
  // A lower budget is in force once the commitment is at most that.
  if (committed <= budget * most) w.budget = budget;

  w.longest_rtt = std::max(w.longest_rtt, Nanos(value(totals.rtt)));
  if (now >= w.past_until) w.past = 0;
  if (w.budget < before) {
    w.past = std::max(w.past, before);
    w.past_until = now + w.longest_rtt * 2;
  }
  const double bound = std::max({w.budget, before, w.past});
  while (!w.bounds.empty() && w.bounds.back().value <= bound) w.bounds.pop_back();
  w.bounds.push_back({now, bound});
  w.looks.push_back(look);
  // The window begins at the latest look that is at least a second old.
  while (w.looks.size() > 1 && w.looks[1].at <= now - kSecond) w.looks.pop_front();
  while (w.bounds.size() > 1 && w.bounds.front().at <= w.looks.front().at) w.bounds.pop_front();

  if (committed > w.budget * most)
    return complaint(w.name, now, "is committed to", committed,
                     w.budget * (w.shared ? 1 : look.active));
  return check_spend(w, now);
}

std::optional<std::string> Invariant::check_spend(const Watched& w, Nanos now) const {
  const Look &first = w.looks.front(), &last = w.looks.back();
  double bound = w.bounds.front().value;
  if (!w.shared) bound *= static_cast<double>(first.active + (last.opened - first.opened));
  const double span = to_seconds(std::max(now - first.at, kSecond));
  const double spent = (last.spend - first.spend) / span;
  if (spent <= bound * (1 + tolerance_.spend)) return std::nullopt;
  const double price = std::ranges::max(w.looks, {}, &Look::price).price;
  const double beyond = kPacketsBeyond * price * w.packet / span;
  if (spent - beyond <= bound * (1 + tolerance_.spend)) return std::nullopt;
  return complaint(w.name, now, "paid in a second", spent, bound);
}

}  // namespace turnpike::sender
