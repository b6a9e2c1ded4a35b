// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/live_view.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "common/report/number.h"
#include "common/report/run_data.h"

namespace turnpike::report {
namespace {

using nlohmann::json;

constexpr size_t kNameWidth = 14, kBarWidth = 24;

std::string left(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string right(const std::string& text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string cut(const std::string& name) { return left(name.substr(0, kNameWidth), kNameWidth); }

/// $/B to text in $/MB; a price near MIN becomes 0.
std::string price_text(double price) { return fixed(price < 1e-17 ? 0 : price * 1e6, 4); }

std::string mpps(double pps) { return fixed(pps * 1e-6, 4); }

/// A bar for the host's share of the total rate, with a mark at its entitled share.
std::string bar(double part, double entitled_part) {
  const auto column = [](double x) {
    return static_cast<size_t>(std::lround(std::clamp(x, 0., 1.) * kBarWidth));
  };
  std::string text = std::string(column(part), '#') + std::string(kBarWidth - column(part), '.');
  if (entitled_part > 0) text[std::max<size_t>(1, column(entitled_part)) - 1] = '|';
  return text;
}

double figure(const json& tree, const char* key) { return number_or_zero(tree, {key}); }

uint64_t count(const json& tree, const char* key) {
  return static_cast<uint64_t>(std::clamp(figure(tree, key), 0., 1e18));
}

template <class T>
T& named(std::vector<T>& all, const std::string& name) {
  for (T& t : all)
    if (t.name == name) return t;
  all.emplace_back().name = name;
  return all.back();
}

}  // namespace

std::string live_json(const LiveView& view) {
  json out = {{"t", view.t}};
  if (!view.node.empty()) out["node"] = view.node;
  if (view.stalled_ms > 0) out["stalled_ms"] = view.stalled_ms;
  if (!view.hosts.empty()) out["hosts"] = json::object();
  for (const LiveHost& h : view.hosts)
    out["hosts"][h.name] = {{"rate_mbps", h.rate_mbps}, {"entitled_mbps", h.entitled_mbps},
                            {"price", h.price},         {"rtt_ms", h.rtt_ms},
                            {"flows", h.flows},         {"lost", h.lost}};
  for (const LiveLink& l : view.links)
    out["links"][l.name] = {{"price", l.price},
                            {"queue_bytes", l.queue_bytes},
                            {"queue_delay_ms", l.queue_delay_ms},
                            {"utilization", l.utilization},
                            {"tx_mbps", l.tx_mbps},
                            {"drops", l.drops}};
  for (const LiveStream& s : view.streams)
    out["streams"][s.name] = {
        {"offered_pps", s.offered_pps}, {"sent_pps", s.sent_pps}, {"received_pps", s.received_pps},
        {"unsent", s.unsent},           {"lost", s.lost},         {"reordered", s.reordered}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool apply_live_json(std::string_view line, LiveView& view, const LinkNames& names) {
  const json tree = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!tree.is_object() || !std::isfinite(number_at(tree, {"t"}))) return false;
  const auto part = [&](const char* key) {
    return tree.contains(key) && tree[key].is_object() ? &tree[key] : nullptr;
  };
  const json *hosts = part("hosts"), *links = part("links"), *streams = part("streams");
  if (!hosts && !links && !streams) return false;
  if (hosts || streams || (view.hosts.empty() && view.streams.empty()))
    view.t = number_at(tree, {"t"});
  if (hosts)
    for (const auto& [name, h] : hosts->items())
      named(view.hosts, name) = {.name = name,
                                 .rate_mbps = figure(h, "rate_mbps"),
                                 .entitled_mbps = figure(h, "entitled_mbps"),
                                 .price = figure(h, "price"),
                                 .rtt_ms = figure(h, "rtt_ms"),
                                 .flows = count(h, "flows"),
                                 .lost = count(h, "lost")};
  const json node = tree.value("node", json());
  const auto full = [&](const std::string& link) {
    return names && node.is_string() ? names(node.get<std::string>(), link) : link;
  };
  if (links)
    for (const auto& [link, l] : links->items()) {
      const std::string name = full(link);
      named(view.links, name) = {.name = name,
                                 .price = figure(l, "price"),
                                 .queue_bytes = figure(l, "queue_bytes"),
                                 .queue_delay_ms = figure(l, "queue_delay_ms"),
                                 .utilization = figure(l, "utilization"),
                                 .tx_mbps = figure(l, "tx_mbps"),
                                 .drops = count(l, "drops")};
    }
  if (streams)
    for (const auto& [name, s] : streams->items())
      named(view.streams, name) = {.name = name,
                                   .offered_pps = figure(s, "offered_pps"),
                                   .sent_pps = figure(s, "sent_pps"),
                                   .received_pps = figure(s, "received_pps"),
                                   .unsent = count(s, "unsent"),
                                   .lost = count(s, "lost"),
                                   .reordered = count(s, "reordered")};
  return true;
}

std::string live_line(const LiveView& view) {
  std::string out = "t=" + fixed(view.t, 1) + "s";
  for (const LiveLink& l : view.links) {
    out += "  " + l.name + " " + price_text(l.price) + " $/MB " + fixed(l.queue_bytes / 1e3, 1) +
           " KB " + fixed(l.queue_delay_ms, 2) + " ms " + fixed(l.utilization * 100, 1) + " %";
    if (l.drops > 0) out += " dropped " + std::to_string(l.drops);
  }
  for (const LiveHost& h : view.hosts) {
    if (h.flows == 0 && h.rate_mbps == 0) continue;
    out += "  " + h.name + " " + fixed(h.rate_mbps, 1);
    if (h.entitled_mbps > 0) out += " of " + fixed(h.entitled_mbps, 1);
    out += " Mbps";
    if (h.lost > 0) out += " lost " + std::to_string(h.lost);
  }
  for (const LiveStream& s : view.streams) {
    out.append("  ").append(s.name).append(" sent ").append(mpps(s.sent_pps));
    out.append(" received ").append(mpps(s.received_pps)).append(" Mpps");
    if (s.lost > 0) out.append(" lost ").append(std::to_string(s.lost));
    if (s.unsent > 0) out.append(" NOT SENT ").append(std::to_string(s.unsent));
  }
  return out;
}

std::string live_table(const LiveView& view) {
  double rates = 0, entitled = 0;
  for (const LiveHost& h : view.hosts) rates += h.rate_mbps, entitled += h.entitled_mbps;
  std::string out = "t = " + fixed(view.t, 1) + " s\n";
  if (!view.links.empty())
    out += left("link", kNameWidth) + right("price $/MB", 12) + right("queue KB", 11) +
           right("queue ms", 10) + right("utilisation", 13) + right("dropped", 9) + "\n";
  for (const LiveLink& l : view.links)
    out += cut(l.name) + right(price_text(l.price), 12) + right(fixed(l.queue_bytes / 1e3, 1), 11) +
           right(fixed(l.queue_delay_ms, 2), 10) + right(fixed(l.utilization * 100, 1) + " %", 13) +
           right(std::to_string(l.drops), 9) + "\n";
  if (!view.streams.empty())
    out += left("stream", kNameWidth) + right("offered", 9) + right("sent", 9) +
           right("received Mpps", 15) + right("lost", 10) + right("reordered", 11) +
           right("not sent", 10) + "\n";
  for (const LiveStream& s : view.streams)
    out += cut(s.name) + right(mpps(s.offered_pps), 9) + right(mpps(s.sent_pps), 9) +
           right(mpps(s.received_pps), 15) + right(std::to_string(s.lost), 10) +
           right(std::to_string(s.reordered), 11) +
           right((s.unsent > 0 ? "! " : "") + std::to_string(s.unsent), 10) + "\n";
  if (view.hosts.empty()) return out;
  out += left("host", kNameWidth) + right("Mbps", 9) + right("entitled", 10) + right("RTT ms", 8) +
         right("lost", 6) + "  share of all\n";
  for (const LiveHost& h : view.hosts) {
    const bool claimed = h.entitled_mbps > 0;
    out += cut(h.name) + right(fixed(h.rate_mbps, 2), 9) +
           right(claimed ? fixed(h.entitled_mbps, 2) : "-", 10) +
           right(h.rtt_ms > 0 ? fixed(h.rtt_ms, 2) : "-", 8) + right(std::to_string(h.lost), 6) +
           "  " +
           bar(rates > 0 ? h.rate_mbps / rates : 0, claimed ? h.entitled_mbps / entitled : 0) +
           "\n";
  }
  return out;
}

}  // namespace turnpike::report
