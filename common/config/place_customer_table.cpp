// SPDX-License-Identifier: BSD-3-Clause
// Customers too many for a topology file: a text file beside it, one customer per line.
#include <algorithm>
#include <filesystem>

#include "common/config/address.h"
#include "common/config/draft.h"
#include "common/config/lines.h"
#include "common/config/trace.h"
#include "common/units/input_file.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

constexpr size_t kMaxReports = 5;   // wrong lines reported; in a file of another format all are
constexpr double kMaxBudget = 1e9;  // $/s, as for customers in the topology file

template <class Prefix>
bool twice(const std::vector<CustomerPrefix<Prefix>>& all) {
  std::vector<std::pair<decltype(Prefix::address), uint8_t>> keys;
  keys.reserve(all.size());
  for (const auto& p : all) keys.emplace_back(p.prefix.address, p.prefix.length);
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) != keys.end();
}

// Adds one line's customer.
LineError place_line(Draft& d, std::string_view line) {
  std::string_view more = line;
  const std::string_view prefix = take_word(more), budget = take_word(more),
                         group = take_word(more);
  if (budget.empty() || !more.empty())
    return {"expected a prefix, a budget and possibly a group", budget.empty() ? prefix : more};
  Customer customer;
  customer.name = prefix;
  const auto amount = parse_quantity<Budget>(budget);
  if (!amount) return {excerpt(budget) + ": " + amount.error(), budget};
  if (amount->count() < 0 || amount->count() > kMaxBudget)
    return {excerpt(budget) + " is not between 0 $/s and 1000000000 $/s", budget};
  customer.budget = *amount;
  if (!group.empty()) {
    const auto found = d.groups.find(group);
    if (found == d.groups.end()) return {"there is no group " + excerpt(group), group};
    customer.group = found->second;
  }
  const auto index = static_cast<uint32_t>(d.topology.customers.size());
  if (const auto v4 = parse_ipv4_prefix(customer.name); v4 && network(*v4).address == v4->address) {
    d.topology.ipv4_customers.push_back({*v4, index});
  } else if (const auto v6 = parse_ipv6_prefix(customer.name);
             v6 && network(*v6).address == v6->address) {
    d.topology.ipv6_customers.push_back({*v6, index});
  } else {
    return {excerpt(prefix) + " is no prefix, or bits beyond its length are set", prefix};
  }
  d.topology.customers.push_back(std::move(customer));
  return {};
}

}  // namespace

void place_customer_table(Draft& d, const Field<std::string>& table) {
  Topology& t = d.topology;
  const std::string path = "customer_table";
  t.customer_table =
      (std::filesystem::path(d.mistakes.file()).parent_path() / table.value).string();
  const auto text = read_input_file(t.customer_table, kMaxListBytes);
  if (!text) {
    d.mistakes.add(table.at, path, "'" + t.customer_table + "' cannot be read: " + text.error());
    return;
  }
  const size_t before = t.customers.size();
  Lines lines(*text);
  size_t wrong = 0;
  while (wrong < kMaxReports) {
    const auto line = lines.next();
    if (!line) break;
    if (trim(*line).empty() || line->front() == '#') continue;
    const LineError found = place_line(d, *line);
    if (found.message.empty()) continue;
    ++wrong;
    d.mistakes.add(
        {t.customer_table, lines.number(), column_of(found.part, *line), path, found.message});
  }
  t.customers_in_table = t.customers.size() - before;
  if (twice(t.ipv4_customers) || twice(t.ipv6_customers))
    d.mistakes.add(table.at, path,
                   "two customers have the same prefix, both in '" + t.customer_table +
                       "' or one of them in 'customers'");
}

}  // namespace turnpike::config
