// SPDX-License-Identifier: BSD-3-Clause
// A comparison for terminals and for programs.
#include <array>
#include <ctime>

#include "common/units/printable.h"
#include "operator/accounts/compare.h"
#include "operator/table.h"

namespace turnpike::ops {
namespace {

constexpr size_t kShownName = 60;

Json outcome_json(const Outcome& o, double offered) {
  return {{"carried_bytes", o.carried},
          {"share_of_demand", offered > 0 ? o.carried / offered : 1},
          {"limited_seconds", o.limited},
          {"wait_p99_ms", 1e3 * o.wait_p99}};
}

}  // namespace

std::span<const std::string_view> model_limits() {
  static constexpr std::array<std::string_view, 5> kLimits{
      "Demand that was never offered is not in accounts: TCP sends less when it is slowed down and "
      "more when it is not, so that behind another shaper it would have offered another amount.",
      "Bytes are taken to arrive evenly within each line's period, a second as a rule. A shaper "
      "drops bursts within a second that its queue cannot hold, so that it would have carried less "
      "than the model says.",
      "The model's queue is one FIFO for the whole customer: it has a delay, but not which of the "
      "customer's connections caused it and which suffered.",
      "The core is taken to carry all that the shapers send, and at no price.",
      "A percentile of waits is over the lines of the period, by their bytes: 99 % of the carried "
      "bytes are of lines whose own 99th percentile is at most that."};
  return kLimits;
}

Total total_of(const AccountReport& report) {
  Total t;
  for (const Comparison& c : report.customers) {
    t.offered += c.offered;
    t.gateway += c.gateway.carried;
    t.shapers += c.shaper.carried;
    t.spend += c.spend;
  }
  return t;
}

std::string total_text(const AccountReport& report) {
  const Total t = total_of(report);
  const auto part = [&](double carried) {
    return value_text(carried, Format::kBytes) + " (" +
           value_text(t.offered > 0 ? carried / t.offered : 1, Format::kShare) + ")";
  };
  return "All " + std::to_string(report.customers.size()) + " customers offered " +
         value_text(t.offered, Format::kBytes) + ": the gateway carried " + part(t.gateway) +
         " for " + value_text(t.spend, Format::kNumber) + " $, fixed rates would have carried " +
         part(t.shapers) + ".";
}

std::string time_text(double unix_time) {
  const auto seconds = static_cast<time_t>(unix_time);
  tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts)};
}

Json report_json(const AccountReport& report) {
  Json customers = Json::array();
  for (const Comparison& c : report.customers)
    customers.push_back({{"customer", c.customer},
                         {"lines", c.lines},
                         {"seconds", c.seconds},
                         {"offered_bytes", c.offered},
                         {"bytes", c.bytes},
                         {"spend", c.spend},
                         {"price_per_mb", 1e6 * c.price},
                         {"price_p95_per_mb", 1e6 * c.price_p95},
                         {"ceiling_seconds", c.ceiling},
                         {"gateway", outcome_json(c.gateway, c.offered)},
                         {"shaper_bps", 8 * c.spec.rate},
                         {"shaper_buffer_bytes", c.spec.buffer},
                         {"shaper", outcome_json(c.shaper, c.offered)}});
  const Total total = total_of(report);
  Json limits = Json::array();
  for (const std::string_view text : model_limits()) limits.push_back(text);
  return {{"files", report.files},
          {"from", time_text(report.from)},
          {"to", time_text(report.to)},
          {"buffer_ms", 1e3 * report.buffer_s},
          {"burst_bytes", report.burst},
          {"total",
           {{"offered_bytes", total.offered},
            {"spend", total.spend},
            {"gateway_carried_bytes", total.gateway},
            {"shapers_carried_bytes", total.shapers}}},
          {"limits", std::move(limits)},
          {"customers", std::move(customers)}};
}

std::string report_text(const AccountReport& report) {
  static const std::vector<Column> kColumns{{"CUSTOMER", "customer"},
                                            {"OFFERED", "offered", Format::kBytes},
                                            {"CARRIED", "carried", Format::kBytes},
                                            {"MET", "met", Format::kShare},
                                            {"LIMITED s", "limited", Format::kNumber},
                                            {"WAIT p99 ms", "wait", Format::kNumber},
                                            {"PAID $", "spend", Format::kNumber},
                                            {"$/MB", "price", Format::kNumber},
                                            {"p95", "price_p95", Format::kNumber},
                                            {"SHAPER", "rate", Format::kRate},
                                            {"CARRIED", "shaped", Format::kBytes},
                                            {"MET", "shaped_met", Format::kShare},
                                            {"LIMITED s", "shaped_limited", Format::kNumber},
                                            {"WAIT p99 ms", "shaped_wait", Format::kNumber}};
  Json rows = Json::array();
  for (const Comparison& c : report.customers) {
    const auto met = [&](const Outcome& o) { return c.offered > 0 ? o.carried / c.offered : 1; };
    rows.push_back({{"customer", printable(c.customer, kShownName)},
                    {"offered", c.offered},
                    {"carried", c.gateway.carried},
                    {"met", met(c.gateway)},
                    {"limited", c.gateway.limited},
                    {"wait", 1e3 * c.gateway.wait_p99},
                    {"spend", c.spend},
                    {"price", 1e6 * c.price},
                    {"price_p95", 1e6 * c.price_p95},
                    {"rate", 8 * c.spec.rate},
                    {"shaped", c.shaper.carried},
                    {"shaped_met", met(c.shaper)},
                    {"shaped_limited", c.shaper.limited},
                    {"shaped_wait", 1e3 * c.shaper.wait_p99}});
  }
  std::string text = time_text(report.from) + " to " + time_text(report.to) +
                     " UTC; left: the gateway, right of SHAPER: a fixed rate with a queue of " +
                     value_text(1e3 * report.buffer_s, Format::kNumber) + " ms\n" +
                     table_text(kColumns, rows) + total_text(report) + "\n";
  for (const std::string_view limit : model_limits()) text.append("- ").append(limit).append("\n");
  return text;
}

}  // namespace turnpike::ops
