// SPDX-License-Identifier: BSD-3-Clause
// Routing tables too large for a topology file: a text file beside it, a route on each line.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/config/address.h"
#include "common/config/draft.h"

namespace turnpike::config {
namespace {

constexpr size_t kMostToTell = 5;  // wrong lines; a file of another kind has nothing else

template <class Prefix>
bool twice(std::span<const Route<Prefix>> routes) {
  std::vector<std::pair<decltype(Prefix::address), uint8_t>> keys;
  keys.reserve(routes.size());
  for (const auto& r : routes) keys.emplace_back(r.prefix.address, r.prefix.length);
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) != keys.end();
}

// One line's route into the router's tables; what is wrong with it, or nothing.
std::string place_line(const Draft& d, Router& router, const std::string& line) {
  std::istringstream words(line);
  std::string prefix, via, more;
  words >> prefix >> via;
  if (via.empty() || (words >> more)) return "a prefix and a neighbour or link are wanted";
  const auto link = neighbour_link(d, router, via);
  if (!link) return "'" + via + "' is neither a neighbour's address nor a link of the router";
  if (const auto v4 = parse_ipv4_prefix(prefix); v4 && network(*v4).address == v4->address) {
    router.ipv4_routes.push_back({*v4, *link});
  } else if (const auto v6 = parse_ipv6_prefix(prefix); v6 && network(*v6).address == v6->address) {
    router.ipv6_routes.push_back({*v6, *link});
  } else {
    return "'" + prefix + "' is no prefix, or bits beyond its length are set";
  }
  return {};
}

}  // namespace

void place_table(Draft& d, size_t index, const Field<std::string>& table) {
  Router& router = d.topology.routers[index];
  const std::string path = "routers." + router.name + ".table";
  router.table = (std::filesystem::path(d.mistakes.file()).parent_path() / table.value).string();
  std::error_code error;
  std::ifstream in(router.table);
  size_t number = 0, wrong = 0;
  const auto complain = [&](const std::string& text) {
    d.mistakes.add(table.at, path, text);
    d.tables_right = false;
    ++wrong;
  };
  if (!std::filesystem::is_regular_file(router.table, error) || !in)
    return complain("there is no file '" + router.table + "'");
  const size_t ipv4 = router.ipv4_routes.size(), ipv6 = router.ipv6_routes.size();
  for (std::string line; wrong < kMostToTell && std::getline(in, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (const std::string what = place_line(d, router, line); !what.empty())
      complain("line " + std::to_string(number) + " of '" + router.table + "': " + what);
  }
  if (twice(std::span<const Route<Ipv4Prefix>>(router.ipv4_routes)) ||
      twice(std::span<const Route<Ipv6Prefix>>(router.ipv6_routes)))
    complain("a prefix has two routes, in '" + router.table + "' or in it and in 'routes'");
  router.ipv4_in_table = router.ipv4_routes.size() - ipv4;
  router.ipv6_in_table = router.ipv6_routes.size() - ipv6;
}

}  // namespace turnpike::config
