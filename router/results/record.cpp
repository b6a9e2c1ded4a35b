// SPDX-License-Identifier: BSD-3-Clause
#include "router/results/record.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <nlohmann/json.hpp>

#include "common/report/csv.h"
#include "router/results/customers.h"

namespace turnpike::router {
namespace {

std::string number(double v) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.begin(), text.end(), v, std::chars_format::general, 9).ptr;
  return {text.data(), end};
}

nlohmann::ordered_json drops_of(const std::array<uint64_t, kDropReasons>& drops) {
  nlohmann::ordered_json j = nlohmann::ordered_json::object();
  for (size_t r = 0; r < kDropReasons; ++r) j[std::string(kDropTexts[r].name)] = drops[r];
  return j;
}

nlohmann::ordered_json punt_json(const PuntSnapshot& punt) {
  nlohmann::ordered_json punted = nlohmann::ordered_json::object(), limited = punted;
  for (size_t k = 0; k < config::kPuntClasses; ++k) {
    punted[std::string(config::kPuntClassNames[k])] = punt.punted[k];
    limited[std::string(config::kPuntClassNames[k])] = punt.limited[k];
  }
  return {{"punted", std::move(punted)},
          {"limited", std::move(limited)},
          {"waiting", punt.waiting},
          {"unusable", punt.unusable}};
}

// Packets for Linux by class; empty: none were.
std::string punt_text(const PuntSnapshot& punt) {
  std::string text;
  for (size_t k = 0; k < config::kPuntClasses; ++k) {
    if (punt.punted[k] + punt.limited[k] == 0) continue;
    text += std::string(text.empty() ? "  to Linux: " : ", ") +
            std::string(config::kPuntClassNames[k]) + " " + std::to_string(punt.punted[k]);
    if (punt.limited[k] > 0)
      text += " (" + std::to_string(punt.limited[k]) + " more beyond the rate)";
  }
  return text.empty() ? text : text + "\n";
}

// Packets received by each worker, if there are several.
std::string workers_text(const Snapshot& end) {
  constexpr double kUneven = 1.5;
  if (end.received_by.size() < 2) return "";
  std::string text = "  received by worker:";
  for (size_t w = 0; w < end.received_by.size(); ++w)
    text.append(" ")
        .append(std::to_string(w))
        .append(": ")
        .append(std::to_string(end.received_by[w]));
  text += "\n";
  if (end.imbalance() > kUneven)
    text +=
        "  warning: the workers' shares are uneven. RSS assigns each flow to one worker, and a "
        "port with one queue has one worker; use more flows or queues.\n";
  return text;
}

}  // namespace

tl::expected<Record, std::string> Record::open(const std::string& folder, const std::string& node) {
  if (auto prepared = report::prepare_folder(folder); !prepared)
    return tl::unexpected(prepared.error());
  Record r;
  r.folder_ = folder;
  r.node_ = node;
  auto series = report::WholeFile::open(folder + "/links.csv");
  if (!series) return tl::unexpected(series.error());
  const std::string counters = "router-" + node + ".json";
  report::remove_results(folder, {"links.csv", counters.c_str()});
  r.series_.emplace(std::move(*series));
  return r;
}

void Record::add(const Sample& sample) {
  std::ostringstream lines;
  if (!header_written_) {
    // All laws' gauges, each name once: links under other laws leave these columns empty.
    for (const LinkSample& l : sample.links)
      for (const Gauge& g : l.gauges)
        if (std::ranges::find(gauges_, g.name) == gauges_.end()) gauges_.emplace_back(g.name);
    lines << "t,unix_s,link,price,queue_bytes,queue_delay_ms,utilization,drops,input";
    for (const std::string& g : gauges_) lines << ',' << g;
    lines << '\n';
    header_written_ = true;
  }
  for (const LinkSample& l : sample.links) {
    lines << number(sample.t) << ',' << std::fixed << sample.unix_s << std::defaultfloat << ','
          << report::csv_field(l.name) << ',' << number(l.price) << ',' << l.queue_bytes << ','
          << number(l.queue_delay_ms) << ',' << number(l.utilization) << ',' << l.drops << ','
          << number(l.input);
    for (const std::string& name : gauges_) {
      lines << ',';
      const auto g = std::ranges::find(l.gauges, name, &Gauge::name);
      if (g != l.gauges.end()) lines << number(g->value);
    }
    lines << '\n';
  }
  series_->write(lines.str());
}

tl::expected<void, std::string> Record::finish(const Snapshot& end,
                                               std::span<const PortStats> ports, double seconds,
                                               Nanos stalled,
                                               std::span<const CustomerSnapshot> customers,
                                               std::span<const OffenderSnapshot> offenders) {
  if (auto done = series_->finish(); !done) return done;

  nlohmann::ordered_json links = nlohmann::ordered_json::object();
  for (size_t l = 0; l < end.links.size(); ++l) {
    const LinkSnapshot& s = end.links[l];
    const PortStats& p = ports[l];
    links[s.name] = {{"rx_packets", s.rx_packets},
                     {"rx_bytes", s.rx_bytes},
                     {"tx_packets", s.tx_packets},
                     {"tx_bytes", s.tx_bytes},
                     {"stamped", s.stamped},
                     {"port",
                      {{"missed", p.rx_missed},
                       {"no_mbuf", p.rx_no_mbuf},
                       {"rx_errors", p.rx_errors},
                       {"tx_errors", p.tx_errors},
                       {"unparked", p.rx_unparked}}},
                     {"drops", drops_of(s.drops)}};
  }
  nlohmann::ordered_json all{{"node", node_},
                             {"seconds", seconds},
                             {"stalled_ms", to_seconds(stalled) * 1e3},
                             {"received", end.received},
                             {"received_by", end.received_by},
                             {"originated", end.originated},
                             {"forwarded", end.forwarded},
                             {"delivered", end.delivered},
                             {"dropped", end.dropped()},
                             {"held", end.held},
                             {"conserved", end.conserved()},
                             {"suppressed_errors", end.suppressed_errors},
                             {"drops", drops_of(end.drops)},
                             {"links", std::move(links)}};
  if (end.punt) all["punt"] = punt_json(*end.punt);
  if (!customers.empty()) all["customers"] = customers_json(customers);
  if (!offenders.empty()) all["offenders"] = offenders_json(offenders);
  return report::write_text(folder_ + "/router-" + node_ + ".json", all.dump(2) + "\n");
}

std::string counters_text(const Snapshot& end, const std::string& node) {
  std::string text = node + ": received " + std::to_string(end.received) + " + originated " +
                     std::to_string(end.originated) + " = forwarded " +
                     std::to_string(end.forwarded) + " + delivered " +
                     std::to_string(end.delivered) + " + dropped " + std::to_string(end.dropped()) +
                     " + held " + std::to_string(end.held) +
                     (end.conserved() ? "\n" : "  DOES NOT ADD UP\n");
  text += workers_text(end);
  if (end.punt) text += punt_text(*end.punt);
  for (const LinkSnapshot& l : end.links) {
    text += "  " + l.name + ": in " + std::to_string(l.rx_packets) + " packets, out " +
            std::to_string(l.tx_packets) + ", stamped " + std::to_string(l.stamped) + "\n";
    for (size_t r = 0; r < kDropReasons; ++r) {
      if (l.drops[r] == 0) continue;
      text += "    dropped " + std::to_string(l.drops[r]) + " " + std::string(kDropTexts[r].name) +
              ": " + std::string(kDropTexts[r].meaning) + "\n";
    }
  }
  return text;
}

}  // namespace turnpike::router
