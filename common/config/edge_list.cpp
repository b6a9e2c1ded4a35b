// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/edge_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "common/config/lines.h"

namespace turnpike::config {
namespace {

/// Takes the text before the next `|` off a line.
std::string_view take_field(std::string_view& line) {
  const size_t end = std::min(line.find('|'), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return trim(field);
}

bool read_number(std::string_view s, uint32_t& out) {
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
  return error == std::errc{} && end == s.data() + s.size();
}

LineError read_edge(std::string_view line, AsEdge& out) {
  const auto bars = std::ranges::count(line, '|');
  if (bars != 2 && bars != 3) return {excerpt(line) + " is not 'A|B|-1' or 'A|B|0'", line};
  std::string_view left = line;
  const std::string_view from = take_field(left), to = take_field(left), kind = take_field(left);
  for (const auto& [text, number] : {std::pair(from, &out.from), std::pair(to, &out.to)})
    if (!read_number(text, *number))
      return {excerpt(text) + " is not the number of an AS, 0 to 4294967295", text};
  if (out.from == out.to) return {"AS " + std::to_string(out.to) + " has a link to itself", to};
  if (kind != "-1" && kind != "0")
    return {excerpt(kind) + " is neither -1, a provider's link, nor 0, a peer's", kind};
  out.peers = kind == "0";
  return {};
}

}  // namespace

std::vector<AsEdge> parse_edge_list(std::string_view text, const std::string& name,
                                    const std::string& path, size_t most, Mistakes& mistakes) {
  std::vector<AsEdge> edges;
  bool any = false;  // line, right or wrong
  std::set<std::pair<uint32_t, uint32_t>> known;
  Lines lines(text);
  while (!mistakes.full()) {
    const auto whole = lines.next();
    if (!whole) break;
    const std::string_view line = trim(*whole);
    if (line.empty() || line.front() == '#') continue;
    any = true;
    AsEdge edge;
    LineError wrong = read_edge(line, edge);
    if (wrong.message.empty() && !known.insert(std::minmax(edge.from, edge.to)).second)
      wrong = {"AS " + std::to_string(edge.from) + " and AS " + std::to_string(edge.to) +
                   " have a link already",
               line};
    if (wrong.message.empty() && edges.size() == most)
      wrong = {"more than " + std::to_string(most) + " links", line};
    if (!wrong.message.empty()) {
      mistakes.add({name, lines.number(), column_of(wrong.part, *whole), path, wrong.message});
      if (edges.size() == most) break;
      continue;
    }
    edges.push_back(edge);
  }
  if (!any) mistakes.add({name, 1, 1, path, "no link in this list"});
  return edges;
}

}  // namespace turnpike::config
