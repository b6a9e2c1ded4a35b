// SPDX-License-Identifier: BSD-3-Clause
#include "router/results/customers.h"

#include <algorithm>
#include <cmath>

#include "common/units/text.h"

namespace turnpike::router {
namespace {

std::vector<const CustomerSnapshot*> most_dropped(std::span<const CustomerSnapshot> customers) {
  std::vector<const CustomerSnapshot*> order;
  order.reserve(customers.size());
  for (const CustomerSnapshot& c : customers) order.push_back(&c);
  std::ranges::stable_sort(order, std::ranges::greater{}, &CustomerSnapshot::dropped);
  if (order.size() > kMaxListed) order.resize(kMaxListed);
  return order;
}

std::string reasons_text(const CustomerSnapshot& c) {
  std::string text;
  for (size_t r = 0; r < kRefusals; ++r)
    if (c.packets[r] != 0)
      text.append(text.empty() ? "" : ", ")
          .append(kRefusalNames[r])
          .append(" ")
          .append(std::to_string(c.packets[r]));
  return text;
}

std::string drops_text(const CustomerSnapshot& c) {
  return "customer " + c.name + " (" + to_text(c.budget) + "): " + std::to_string(c.dropped()) +
         " packets over budget (" + reasons_text(c) + ")";
}

std::string drops_text(const OffenderSnapshot& o) {
  return "sender " + o.source + " at link " + o.link + ": " + std::to_string(o.dropped) +
         " packets unpaid (" + std::to_string(o.offences) + " offences, owed " +
         std::to_string(std::lround(100 * o.owed)) + " % of its charges)";
}

// One line of the log.
struct Entry {
  std::string name, text;
  uint64_t dropped;
};

}  // namespace

nlohmann::ordered_json customers_json(std::span<const CustomerSnapshot> customers) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const CustomerSnapshot* c : most_dropped(customers)) {
    nlohmann::ordered_json reasons = nlohmann::ordered_json::object();
    for (size_t r = 0; r < kRefusals; ++r) reasons[std::string(kRefusalNames[r])] = c->packets[r];
    all[c->name] = {{"budget", c->budget.count()},
                    {"dropped", c->dropped()},
                    {"dropped_bytes", c->bytes},
                    {"reasons", std::move(reasons)}};
  }
  return all;
}

std::string customers_text(std::span<const CustomerSnapshot> customers) {
  std::string text;
  for (const CustomerSnapshot* c : most_dropped(customers))
    text.append("  ").append(drops_text(*c)).append("\n");
  if (customers.size() > kMaxListed)
    text.append("  and ")
        .append(std::to_string(customers.size() - kMaxListed))
        .append(" more customers\n");
  return text;
}

nlohmann::ordered_json offenders_json(std::span<const OffenderSnapshot> offenders) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const OffenderSnapshot& o : offenders)
    all[o.link][o.source] = {{"owed", o.owed}, {"offences", o.offences}, {"dropped", o.dropped}};
  return all;
}

std::string offenders_text(std::span<const OffenderSnapshot> offenders) {
  std::string text;
  for (const OffenderSnapshot& o : offenders) text.append("  ").append(drops_text(o)).append("\n");
  return text;
}

std::vector<std::string> CustomerLog::lines(std::span<const CustomerSnapshot> customers,
                                            std::span<const OffenderSnapshot> offenders,
                                            Nanos now) {
  std::vector<Entry> entries;
  entries.reserve(customers.size() + offenders.size());
  for (const CustomerSnapshot& c : customers)
    entries.push_back({c.name, drops_text(c), c.dropped()});
  for (const OffenderSnapshot& o : offenders)
    entries.push_back({o.link + " " + o.source, drops_text(o), o.dropped});
  std::vector<std::string> out;
  size_t more = 0;
  for (const Entry& e : entries) {
    const auto [known, fresh] = known_.try_emplace(e.name);
    if (e.dropped == known->second.dropped) continue;
    if (!fresh && now < known->second.named + kRepeat) continue;
    if (out.size() == kMaxLines) {
      if (fresh) known_.erase(known);
      ++more;
      continue;
    }
    known->second = {e.dropped, now};
    out.push_back(e.text);
  }
  if (more > 0) out.back() += "; and " + std::to_string(more) + " more";
  return out;
}

}  // namespace turnpike::router
