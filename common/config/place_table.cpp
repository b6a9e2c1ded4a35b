// SPDX-License-Identifier: BSD-3-Clause
// Routing tables too large for a topology file: a text file beside it, one route per line.
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
constexpr size_t kBlockBytes = size_t{1} << 20;

template <class Prefix>
void append(const std::vector<Route<Prefix>>& more, std::vector<Route<Prefix>>& routes) {
  routes.insert(routes.end(), more.begin(), more.end());
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

struct WrongLine {
  int line, column;  // counts from the block's first line
  std::string message;
};

// The routes of a block of lines, and the first lines without one.
struct TableBlock {
  std::vector<Route<Ipv4Prefix>> ipv4;
  std::vector<Route<Ipv6Prefix>> ipv6;
  std::vector<WrongLine> wrong;
  int lines = 0;
};

LineError read_line(const Draft& d, const Router& router, std::string_view line, Vias& vias,
                    TableBlock& out) {
  std::string_view more = line;
  const std::string_view prefix = take_word(more), via = take_word(more);
  if (via.empty() || !more.empty())
    return {"expected a prefix and a neighbour or link", via.empty() ? prefix : more};
  const auto link = link_of(d, router, via, vias);
  if (!link)
    return {excerpt(via) + " is neither a neighbour's address nor a link of the router", via};
  if (const auto v4 = parse_ipv4_prefix(prefix); v4 && network(*v4).address == v4->address) {
    out.ipv4.push_back({*v4, *link});
  } else if (const auto v6 = parse_ipv6_prefix(prefix); v6 && network(*v6).address == v6->address) {
    out.ipv6.push_back({*v6, *link});
  } else {
    return {excerpt(prefix) + " is no prefix, or bits beyond its length are set", prefix};
  }
  return {};
}

TableBlock read_block(const Draft& d, const Router& router, std::string_view text) {
  TableBlock out;
  Lines lines(text);
  Vias vias;
  while (const auto line = lines.next()) {
    if (trim(*line).empty() || line->front() == '#') continue;
    LineError found = read_line(d, router, *line, vias, out);
    if (!found.message.empty() && out.wrong.size() < kMaxToTell)
      out.wrong.push_back({lines.number(), column_of(found.part, *line), std::move(found.message)});
  }
  out.lines = lines.number();
  return out;
}

}  // namespace

std::vector<Mistake> read_table(const Draft& d, Router& router, const Field<std::string>& table) {
  const std::string path = "routers." + router.name + ".table", &file = d.mistakes.file();
  router.table = (std::filesystem::path(file).parent_path() / table.value).string();
  const auto text = read_input_file(router.table, kMaxListBytes);
  if (!text)
    return {{file, table.at.line, table.at.column, path,
             "'" + router.table + "' cannot be read: " + text.error()}};
  const std::vector<std::string_view> pieces = line_blocks(*text, kBlockBytes);
  std::vector<TableBlock> blocks(pieces.size());
  d.threads.for_each(blocks.size(),
                     [&](size_t i) { blocks[i] = read_block(d, router, pieces[i]); });
  std::vector<Mistake> mistakes;
  int line = 0;
  for (TableBlock& block : blocks) {
    router.ipv4_in_table += block.ipv4.size();
    router.ipv6_in_table += block.ipv6.size();
    append(block.ipv4, router.ipv4_routes);
    append(block.ipv6, router.ipv6_routes);
    for (WrongLine& w : block.wrong)
      if (mistakes.size() < kMaxToTell)
        mistakes.push_back({router.table, line + w.line, w.column, path, std::move(w.message)});
    line += block.lines;
    block = {};
  }
  return mistakes;
}

}  // namespace turnpike::config
