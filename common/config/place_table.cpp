// SPDX-License-Identifier: BSD-3-Clause
// Routing tables too large for a topology file: a text file beside it, one route per line.
#include <algorithm>
#include <filesystem>

#include "common/config/address.h"
#include "common/config/draft.h"
#include "common/config/lines.h"
#include "common/config/trace.h"
#include "common/units/input_file.h"

namespace turnpike::config {
namespace {

constexpr size_t kMaxToTell = 5;  // wrong lines reported; in a file of another format all lines are
                                  // wrong

template <class Prefix>
bool twice(std::span<const Route<Prefix>> routes) {
  std::vector<std::pair<decltype(Prefix::address), uint8_t>> keys;
  keys.reserve(routes.size());
  for (const auto& r : routes) keys.emplace_back(r.prefix.address, r.prefix.length);
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) != keys.end();
}

// Links by neighbour's address or name. A table repeats few of these many times.
using Vias = std::map<std::string, size_t, std::less<>>;

std::optional<size_t> link_of(const Draft& d, const Router& router, std::string_view via,
                              Vias& vias) {
  if (const auto known = vias.find(via); known != vias.end()) return known->second;
  const auto link = neighbour_link(d, router, std::string(via));
  if (link) vias.emplace(via, *link);
  return link;
}

// Adds one line's route to the router's tables.
LineError place_line(const Draft& d, Router& router, std::string_view line, Vias& vias) {
  std::string_view more = line;
  const std::string_view prefix = take_word(more), via = take_word(more);
  if (via.empty() || !more.empty())
    return {"expected a prefix and a neighbour or link", via.empty() ? prefix : more};
  const auto link = link_of(d, router, via, vias);
  if (!link)
    return {excerpt(via) + " is neither a neighbour's address nor a link of the router", via};
  const std::string text(prefix);
  if (const auto v4 = parse_ipv4_prefix(text); v4 && network(*v4).address == v4->address) {
    router.ipv4_routes.push_back({*v4, *link});
  } else if (const auto v6 = parse_ipv6_prefix(text); v6 && network(*v6).address == v6->address) {
    router.ipv6_routes.push_back({*v6, *link});
  } else {
    return {excerpt(prefix) + " is no prefix, or bits beyond its length are set", prefix};
  }
  return {};
}

}  // namespace

void place_table(Draft& d, size_t index, const Field<std::string>& table) {
  Router& router = d.topology.routers[index];
  const std::string path = "routers." + router.name + ".table";
  router.table = (std::filesystem::path(d.mistakes.file()).parent_path() / table.value).string();
  const auto complain = [&](const std::string& text) {
    d.mistakes.add(table.at, path, text);
    d.tables_right = false;
  };
  const auto text = read_input_file(router.table, kMaxListBytes);
  if (!text) return complain("'" + router.table + "' cannot be read: " + text.error());
  const size_t ipv4 = router.ipv4_routes.size(), ipv6 = router.ipv6_routes.size();
  Lines lines(*text);
  Vias vias;
  size_t wrong = 0;
  while (wrong < kMaxToTell) {
    const auto line = lines.next();
    if (!line) break;
    if (trim(*line).empty() || line->front() == '#') continue;
    const LineError found = place_line(d, router, *line, vias);
    if (found.message.empty()) continue;
    ++wrong;
    d.tables_right = false;
    d.mistakes.add(
        {router.table, lines.number(), column_of(found.part, *line), path, found.message});
  }
  if (twice(std::span<const Route<Ipv4Prefix>>(router.ipv4_routes)) ||
      twice(std::span<const Route<Ipv6Prefix>>(router.ipv6_routes)))
    complain("a prefix has two routes, both in '" + router.table + "' or one of them in 'routes'");
  router.ipv4_in_table = router.ipv4_routes.size() - ipv4;
  router.ipv6_in_table = router.ipv6_routes.size() - ipv6;
}

}  // namespace turnpike::config
