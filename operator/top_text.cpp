// SPDX-License-Identifier: BSD-3-Clause
#include "operator/top_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "common/units/printable.h"
#include "operator/table.h"

namespace turnpike::ops {
namespace {

constexpr size_t kNoLimit = SIZE_MAX;
constexpr size_t kNameWidth = 12;   // at least
constexpr double kSaturated = 0.9;  // busy share of an lcore
constexpr std::string_view kKeys =
    "q quit  up/down select  enter link  s sort  r reverse  space pause";
constexpr std::string_view kTunnelKeys = "q quit  c or esc back  space pause";

std::string fixed(double v, int digits) {
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), "%.*f", digits, v);
  return out.data();
}

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }
std::string count(double v) { return value_text(v < 10'000 ? std::round(v) : v, Format::kCount); }
std::string pps(double v) {
  const std::string text = count(v);
  return text + (text.find(' ') == text.npos ? " pps" : "pps");
}
std::string bytes(double v) { return value_text(v, Format::kBytes); }
std::string rate(double v) { return value_text(v, Format::kRate); }
/// $/B as $/MB; a price near MIN of the paper is 0.
std::string price(double v) { return fixed(v < 1e-17 ? 0 : v * 1e6, 4); }

std::string left(const std::string& text, size_t width) {
  std::string out = printable(text, 200);
  // One column a character: names are ASCII in files, but not in every client's hands.
  for (char& c : out)
    if (static_cast<unsigned char>(c) >= 0x7f) c = '?';
  out.resize(width, ' ');
  return out;
}

std::string right(const std::string& text, size_t width) {
  if (text.size() > width) return " " + std::string(width - 1, '#');
  return std::string(width - text.size(), ' ') + text;
}

std::string bar(double share, size_t width) {
  const auto full =
      static_cast<size_t>(std::lround(std::clamp(share, 0., 1.) * static_cast<double>(width)));
  return std::string(full, '#') + std::string(width - full, '.');
}

struct Cell {
  std::string_view title;
  size_t width;
  size_t from = 0;  // screens of at least this width
};

/// A row of cells to the right of a name that takes the rest of the width.
std::string row(const std::string& name, const std::vector<Cell>& cells,
                const std::vector<std::string>& values, size_t width) {
  size_t taken = 0;
  for (const Cell& c : cells) taken += width >= c.from ? c.width : 0;
  std::string out =
      left(name, std::min<size_t>(40, std::max(kNameWidth, width - std::min(width, taken))));
  for (size_t i = 0; i < cells.size(); ++i)
    if (width >= cells[i].from) out += right(values[i], cells[i].width);
  return out;
}

/// One table of the screen: a title and rows.
struct Section {
  std::string title;
  std::vector<ScreenLine> rows;
  size_t keep = 0;  // row that must be in sight
};

Section make_section(const std::string& name, const std::vector<Cell>& cells, size_t width) {
  std::vector<std::string> titles;
  for (const Cell& c : cells) titles.emplace_back(c.title);
  return {.title = row(name, cells, titles, width), .rows = {}};
}

Section links_of(const TopView& view, const TopState& state, size_t width) {
  static const std::vector<Cell> kCells{
      {"PRICE $/MB", 12},   {"RATE", 12},          {"USED", 9},    {"", 22, 120},
      {"OFFERED", 12, 150}, {"CAPACITY", 12, 160}, {"QUEUE", 11},  {"DELAY ms", 10},
      {"RX/s", 10, 100},    {"TX/s", 10, 110},     {"DROPS/s", 10}};
  Section s = make_section("LINK", kCells, width);
  for (const TopLink& l : view.links) {
    const bool selected = l.name == state.selected;
    if (selected) s.keep = s.rows.size();
    const std::string down = l.up ? "" : "! ";
    s.rows.push_back(
        {row(down + l.name, kCells,
             {price(l.price), rate(l.tx_bps), percent(l.utilization), bar(l.utilization, 20),
              rate(l.offered_bps), rate(l.capacity_bps), bytes(l.queue_bytes),
              fixed(l.delay_s * 1e3, 2), count(l.rx_pps), count(l.tx_pps), count(l.drops_per_s)},
             width),
         selected                                 ? LineStyle::kSelected
         : !l.up || std::round(l.drops_per_s) > 0 ? LineStyle::kAlarm
                                                  : LineStyle::kPlain});
  }
  return s;
}

Section lcores_of(const TopView& view, size_t width) {
  std::vector<Cell> cells{{"BUSY", 8}, {"", 22, 120}, {"STALLED", 9}, {"RX/s", 9}, {"CYCLES", 8}};
  std::vector<std::string> stages;
  if (!view.lcores.empty())
    for (const auto& [stage, cycles] : view.lcores.front().stages) stages.push_back(stage);
  for (const std::string& stage : stages) cells.push_back({stage, width >= 100 ? 9UL : 8UL, 90});
  Section s = make_section("LCORE", cells, width);
  for (const TopLcore& l : view.lcores) {
    std::vector<std::string> values{percent(l.busy), bar(l.busy, 20), percent(l.stalled),
                                    count(l.rx_pps), l.cycles > 0 ? fixed(l.cycles, 0) : "-"};
    for (size_t i = 0; i < stages.size(); ++i)
      values.push_back(i < l.stages.size() && l.cycles > 0 ? fixed(l.stages[i].second, 0) : "-");
    s.rows.push_back({row(std::to_string(l.lcore), cells, values, width),
                      l.busy > kSaturated ? LineStyle::kAlarm : LineStyle::kPlain});
    if (width >= 90 || l.cycles == 0) continue;
    std::string by_stage = "  cycles by stage:";
    for (const auto& [stage, cycles] : l.stages) by_stage += " " + stage + " " + fixed(cycles, 0);
    s.rows.push_back({by_stage});
  }
  return s;
}

Section drops_of(const std::vector<TopDrops>& drops, size_t width) {
  static const std::vector<Cell> kCells{{"PACKETS/s", 12}, {"TOTAL", 12}};
  Section s = make_section("DROP REASON", kCells, width);
  for (const TopDrops& d : drops)
    s.rows.push_back({row(d.reason, kCells, {count(d.per_s), count(d.total)}, width),
                      std::round(d.per_s) > 0 ? LineStyle::kAlarm : LineStyle::kPlain});
  return s;
}

Section customers_of(const TopView& view, size_t width) {
  static const std::vector<Cell> kCells{{"BUDGET $/s", 12}, {"DROPS/s", 12}, {"TOTAL", 12}};
  Section s = make_section("CUSTOMER OVER BUDGET", kCells, width);
  for (const TopCustomer& c : view.customers)
    s.rows.push_back({row(
        c.name, kCells,
        {value_text(c.budget, Format::kNumber), count(c.drops_per_s), count(c.drops)}, width)});
  return s;
}

/// Customers of a gateway. Drops in their own queues are no alarm: they tell TCP its rate.
Section tunnels_of(const TopView& view, size_t width) {
  static const std::vector<Cell> kCells{
      {"IN", 12, 75},       {"SENT", 12},           {"SPEND $/s", 11, 105}, {"BUDGET", 9},
      {"", 12, 130},        {"PRICE $/MB", 12, 70}, {"P99 ms", 9, 50},      {"DROPS/s", 10, 90},
      {"MARKS/s", 10, 100}, {"STATE", 10, 60}};
  Section s = make_section("CUSTOMER", kCells, width);
  for (const TopTunnels& t : view.tunnels) {
    const double used = t.budget > 0 ? t.spend / t.budget : 0;
    s.rows.push_back({row(t.name, kCells,
                          {rate(t.offered_bps), rate(t.sent_bps), fixed(t.spend, 4), percent(used),
                           bar(used, 10), price(t.price), fixed(t.wait_p99_s * 1e3, 2),
                           count(t.drops_per_s), count(t.marks_per_s), printable(t.state, 60)},
                          width),
                      t.state == "silent" ? LineStyle::kAlarm : LineStyle::kPlain});
  }
  return s;
}

void append(std::vector<ScreenLine>& out, const Section& s, size_t room) {
  if (s.rows.empty() || room < 2) return;
  out.push_back({s.title, LineStyle::kTitle});
  size_t rows = s.rows.size();
  if (rows + 1 > room) rows = room - (room > 2 ? 2 : 1);
  const size_t first = s.keep < rows ? 0 : s.keep + 1 - rows;
  for (size_t i = first; i < first + rows; ++i) out.push_back(s.rows[i]);
  if (rows < s.rows.size() && room > 2)
    out.push_back({"  ... " + std::to_string(s.rows.size() - rows) + " more"});
}

/// Shares `height` lines among the sections: each gets a part, and the first ones the rest.
std::vector<ScreenLine> stacked(const std::vector<Section>& sections, size_t height) {
  std::vector<size_t> room(sections.size(), 0);
  const auto wanted = [&](size_t i) {
    return sections[i].rows.empty() ? 0 : sections[i].rows.size() + 1;
  };
  size_t left_over = height;
  for (const size_t least : {size_t{2}, size_t{4}, kNoLimit})
    for (size_t i = 0; i < sections.size(); ++i) {
      const size_t more =
          std::min(std::min(wanted(i), least) - std::min({room[i], wanted(i), least}), left_over);
      room[i] += more;
      left_over -= more;
    }
  std::vector<ScreenLine> out;
  for (size_t i = 0; i < sections.size(); ++i) {
    // Empty lines between sections, as far as all rows fit.
    if (i > 0 && room[i] > 0 && left_over > 0) {
      out.push_back({});
      --left_over;
    }
    append(out, sections[i], room[i]);
  }
  return out;
}

std::string uptime(double seconds) {
  const auto s = static_cast<long>(std::max(seconds, 0.));
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  return out.data();
}

std::string heading(const TopView& v, const TopState& state) {
  return std::string("turnpike top  ") + (state.paused ? "PAUSED  " : "") + v.router + "  up " +
         uptime(v.uptime_s) + "  in " + pps(v.rx_pps) + "  out " + pps(v.tx_pps) + "  drops " +
         pps(v.drops_per_s);
}

Section flows_of(const std::vector<TopFlow>& flows, size_t width) {
  static const std::vector<Cell> kCells{{"DESTINATION", 24},
                                        {"CUSTOMER", 14, 100},
                                        {"PRICE $/MB", 12, 90},
                                        {"RATE", 12},
                                        {"SPEND $/s", 12}};
  Section s = make_section("FLOW", kCells, width);
  for (const TopFlow& f : flows)
    s.rows.push_back(
        {row(f.source, kCells,
             {printable(f.destination, 200), f.customer.empty() ? "-" : printable(f.customer, 200),
              price(f.price), rate(f.rate_bps), fixed(f.spend, 4)},
             width)});
  return s;
}

/// All figures of one link.
std::vector<Section> link_page(const TopLink& l, const std::vector<TopFlow>& flows, size_t width) {
  Section figures{.title = "LINK " + l.name, .rows = {}};
  const auto add = [&](const std::string& name, const std::string& value) {
    figures.rows.push_back({left("  " + name, 24) + value});
  };
  add("price", price(l.price) + " $/MB");
  add("rate", rate(l.tx_bps) + " of " + rate(l.capacity_bps) + ", " + percent(l.utilization));
  add("offered", rate(l.offered_bps));
  add("packets", pps(l.rx_pps) + " in, " + pps(l.tx_pps) + " out");
  add("queue", bytes(l.queue_bytes) + " of " + bytes(l.buffer_bytes) + ", " +
                   count(l.queue_packets) + " packets, " + fixed(l.delay_s * 1e3, 2) + " ms");
  if (!l.delays.empty())
    add("waiting time", "p50 " + fixed(l.delays.value("p50", 0.) * 1e3, 3) + " ms, p99 " +
                            fixed(l.delays.value("p99", 0.) * 1e3, 3) + " ms since the start");
  for (const auto& [name, value] : l.port.items())
    add("port " + name, value_text(value, Format::kCount));
  Section law{.title = "LAW", .rows = {}};
  for (const auto& [name, value] : l.gauges.items())
    law.rows.push_back({left("  " + name, 24) + value_text(value, Format::kNumber)});
  return {figures, flows_of(flows, width), law, drops_of(l.reasons, width)};
}

/// The first page.
std::vector<Section> sections(const TopView& view, const TopState& state, size_t width) {
  return {links_of(view, state, width), tunnels_of(view, width), lcores_of(view, width),
          drops_of(view.drops, width), customers_of(view, width)};
}

std::vector<ScreenLine> tunnel_page(const TopView& view, size_t width, size_t room) {
  if (view.tunnels.empty()) return {{"no customer has sent packets through this router's tunnels"}};
  std::vector<ScreenLine> out = stacked({tunnels_of(view, width)}, room - 1);
  out.push_back({"  " + std::to_string(view.tunnels.size()) + " of " +
                 count(view.tunnel_customers) +
                 " customers: of those that spent most since the start, in the order of this "
                 "interval"});
  return out;
}

}  // namespace

std::vector<ScreenLine> top_screen(const TopView& view, const TopState& state, ScreenSize size) {
  std::vector<ScreenLine> out;
  if (size.width < kMinScreen.width || size.height < kMinScreen.height) {
    out.push_back({"screen too small"});
  } else {
    const auto link = std::ranges::find(view.links, state.selected, &TopLink::name);
    const bool tunnels = state.tunnels;
    const bool drilled = !tunnels && state.drilled && link != view.links.end();
    out.push_back({heading(view, state), LineStyle::kBar});
    const size_t room = size.height - 2;
    const auto body = tunnels   ? tunnel_page(view, size.width, room)
                      : drilled ? stacked(link_page(*link, view.flows, size.width), room)
                                : stacked(sections(view, state, size.width), room);
    out.insert(out.end(), body.begin(), body.end());
    out.resize(size.height - 1);
    const std::string keys = tunnels   ? std::string(kTunnelKeys)
                             : drilled ? "q quit  esc back  up/down next link  space pause"
                                       : std::string(kKeys) +
                                             (view.tunnels.empty() ? "" : "  c customers") +
                                             "  (by " + std::string(name_of(state.order)) + ")";
    out.push_back({state.message.empty() ? keys : state.message,
                   state.message.empty() ? LineStyle::kBar : LineStyle::kAlarm});
  }
  out.resize(size.height);
  for (ScreenLine& line : out) line.text.resize(std::min(line.text.size(), size.width));
  return out;
}

std::string top_once(const TopView& view, size_t width) {
  std::string out = heading(view, {}) + "\n";
  for (const Section& s : sections(view, {}, width)) {
    if (s.rows.empty()) continue;
    out += "\n" + s.title + "\n";
    for (const ScreenLine& line : s.rows) out += line.text + "\n";
  }
  return out;
}

}  // namespace turnpike::ops
