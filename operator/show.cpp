// SPDX-License-Identifier: BSD-3-Clause
// `turnpike show WHAT`: a running router's state, as tables or JSON.
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/units/printable.h"
#include "operator/client.h"
#include "operator/table.h"
#include "operator/verbs.h"

namespace turnpike::ops {

namespace {

/// A list in an answer and its table.
struct Part {
  std::string key;
  std::vector<Column> columns;
  std::string_view not_zero = {};  // rows in which this value is 0 are left out; empty: none
};

/// Something to show. Without parts, the answer's values are written line by line.
struct What {
  std::string name, help;
  std::vector<Part> parts = {};
  bool totals = false;      // prints the answer's other values below the tables
  bool of_link = false;     // needs the name of a link
  bool whole_text = false;  // prints "text" as it is
};

using enum Format;

const std::vector<What>& everything() {
  static const std::vector<What> kAll{
      {"links",
       "price, rate and queue of each link",
       {{"links",
         {{"LINK", "link"},
          {"UP", "up", kFlag},
          {"LAW", "law"},
          {"RATE", "rate_bps", kRate},
          {"USED", "utilization", kShare},
          {"PRICE $/B", "price", kNumber},
          {"QUEUE", "queue_bytes", kBytes},
          {"DELAY ms", "queue_delay_ms", kNumber},
          {"RX", "rx_packets", kCount},
          {"TX", "tx_packets", kCount},
          {"DROPS", "drops", kCount}}}}},
      {.name = "ports",
       .help =
           "counters of each port, buckets of RSS by queue, and those of extended statistics that "
           "are not zero; with --json all",
       .parts = {{"ports",
                  {{"LINK", "link"},
                   {"PORT", "port"},
                   {"UP", "up", kFlag},
                   {"FLOW CONTROL", "flow_control"},
                   {"MTU", "mtu", kNumber},
                   {"RX", "rx_packets", kCount},
                   {"RX BYTES", "rx_bytes", kBytes},
                   {"TX", "tx_packets", kCount},
                   {"TX BYTES", "tx_bytes", kBytes},
                   {"MISSED", "rx_missed", kCount},
                   {"NO MBUF", "rx_no_mbuf", kCount},
                   {"RX ERR", "rx_errors", kCount},
                   {"TX ERR", "tx_errors", kCount},
                   {"RX PAUSE", "pause_received", kCount},
                   {"TX PAUSE", "pause_sent", kCount},
                   {"UNPARKED", "rx_unparked", kCount},
                   {"RSS BUCKETS", "rss_buckets"}}},
                 {"extended_statistics",
                  {{"LINK", "link"}, {"STATISTIC", "statistic"}, {"VALUE", "value", kCount}},
                  "value"}},
       .totals = true},
      {"lcores",
       "load of each lcore",
       {{"lcores",
         {{"LCORE", "lcore", kNumber},
          {"WORKER", "worker", kNumber},
          {"RX", "rx_packets", kCount},
          {"BUSY", "busy", kShare},
          {"CYCLES/PACKET", "cycles_per_packet", kNumber},
          {"STALLED ms", "stalled_ms", kNumber}}}}},
      {"drops",
       "packets dropped, by link and reason",
       {{"drops", {{"LINK", "link"}, {"REASON", "reason"}, {"PACKETS", "packets", kCount}}}}},
      {"customers",
       "customers that were refused packets, and senders that pay too little",
       {{"customers",
         {{"CUSTOMER", "customer"},
          {"BUDGET $/s", "budget", kNumber},
          {"DROPPED", "dropped", kCount},
          {"BYTES", "bytes", kBytes},
          {"REASONS", "reasons"}}},
        {"offenders",
         {{"LINK", "link"},
          {"SENDER", "source"},
          {"OWED", "owed", kShare},
          {"OFFENCES", "offences", kCount},
          {"DROPPED", "dropped", kCount}}}}},
      {.name = "tunnels",
       .help = "what a gateway carries for each customer, at what price",
       .parts = {{"tunnels",
                  {{"CUSTOMER", "customer"},
                   {"BUDGET $/s", "budget", kNumber},
                   {"CEILING", "ceiling", kRate},
                   {"FLOWS", "flows", kCount},
                   {"BYTES", "bytes", kBytes},
                   {"SPENT $", "spend", kNumber},
                   {"PRICE $/B", "price", kNumber},
                   {"RTT ms", "rtt_ms", kNumber},
                   {"WAITING", "waiting_bytes", kBytes},
                   {"p99 ms", "wait_p99_ms", kNumber},
                   {"DROPPED", "dropped", kCount},
                   {"MARKED", "marked", kCount},
                   {"LOST", "lost", kCount},
                   {"SILENT PEERS", "silent_peers"},
                   {"BYPASSED", "bypassed"}}},
                 {"classes",
                  {{"CUSTOMER", "customer"},
                   {"CLASS", "class"},
                   {"BYTES", "bytes", kBytes},
                   {"WAITING", "waiting_bytes", kBytes},
                   {"DROPPED", "dropped", kCount},
                   {"MARKED", "marked", kCount}}}},
       .totals = true},
      {.name = "neighbours",
       .help = "neighbours on the links, as Linux knows them or as the file gives them",
       .parts = {{"neighbours",
                  {{"ADDRESS", "address"},
                   {"MAC", "mac"},
                   {"LINK", "link"},
                   {"STATE", "state"},
                   {"AGE s", "age_s", kNumber}}}},
       .totals = true},
      {.name = "config", .help = "the configuration that runs, complete", .whole_text = true},
      {"linux", "health of Linux as control plane"},
      {.name = "law", .help = "figures of a link's law", .of_link = true},
      {"version", "the router's version"},
  };
  return kAll;
}

/// The values of an object, one per line; objects in it as NAME.KEY.
std::string lines_of(const Json& object, const std::string& prefix) {
  std::string text;
  for (const auto& [key, value] : object.items())
    text += value.is_object() ? lines_of(value, prefix + key + ".")
                              : prefix + key + ": " + value_text(value, kNumber) + "\n";
  return text;
}

Json shown_rows(const Part& part, Json rows) {
  if (part.not_zero.empty()) return rows;
  Json shown = Json::array();
  for (Json& row : rows)
    if (row.value(part.not_zero, uint64_t{0}) != 0) shown.push_back(std::move(row));
  return shown;
}

std::string text_of(const What& what, const Json& answer) {
  if (const auto text = answer.find("text"); what.whole_text && text != answer.end())
    return text->get<std::string>();
  if (what.parts.empty()) return lines_of(answer, "");
  std::string text;
  Json others = answer;
  for (const Part& part : what.parts) {
    const Json rows = shown_rows(part, answer.value(part.key, Json::array()));
    if (!rows.empty()) text += (text.empty() ? "" : "\n") + table_text(part.columns, rows);
    others.erase(part.key);
  }
  if (what.totals) text += lines_of(others, "");
  return text.empty() ? "nothing\n" : text;
}

struct ShowOptions {
  Where where;
  std::string link, prefix, diff;
  bool json = false;
};

const std::vector<Column> kRouteColumns{
    {"PREFIX", "prefix"},          {"ACTION", "action"},        {"DISTANCE", "distance", kNumber},
    {"METRIC", "metric", kNumber}, {"IN FIB", "in_fib", kFlag}, {"NEXT HOPS", "next_hops"}};

std::string routes_text(const Json& answer) {
  const Json& rows = answer["routes"];
  std::string text = rows.empty() ? "" : table_text(kRouteColumns, rows);
  return text + std::to_string(rows.size()) + " of " + answer["matching"].dump() +
         " matching routes; " + answer["all"].dump() + " in all\n";
}

/// The differences between the router's routes and the kernel's.
std::string comparison_text(const Json& answer) {
  std::string text;
  for (const Json& line : answer["differences"])
    text += printable(line.get<std::string>(), 1000) + "\n";
  return text + answer["held"].dump() + " routes compared with the kernel's " +
         answer["kernel"].dump() + ": " + std::to_string(answer["differences"].size()) + " differ" +
         (answer["settled"].get<bool>() ? "" : "; messages of the kernel are waiting") + "\n";
}

/// Prints an answer. The error is the router's.
ExitCode print(const tl::expected<Json, Refused>& answer, bool json,
               const std::function<std::string(const Json&)>& text) {
  if (!answer) return fail(answer.error());
  std::fputs((json ? answer->dump(2) + "\n" : text(*answer)).c_str(), stdout);
  return kExitOk;
}

ExitCode run_routes(const ShowOptions& options) {
  auto client = Client::reach(options.where);
  if (!client) return client.error();
  Json request{{"request", "show"}, {"what", "routes"}};
  if (!options.prefix.empty()) request["prefix"] = options.prefix;
  if (!options.diff.empty()) request["diff"] = options.diff;
  const auto answer = client->ask(std::move(request), {}, 60_s);
  const ExitCode code =
      print(answer, options.json, options.diff.empty() ? routes_text : comparison_text);
  const bool differ = answer && !options.diff.empty() && !(*answer)["differences"].empty();
  return differ ? kExitRuntime : code;
}

ExitCode run(const What& what, const ShowOptions& options) {
  auto client = Client::reach(options.where);
  if (!client) return client.error();
  Json request{{"request", "show"}, {"what", what.name}};
  if (what.of_link) request["link"] = options.link;
  return print(client->ask(std::move(request)), options.json,
               [&what](const Json& answer) { return text_of(what, answer); });
}

}  // namespace

void add_show(CLI::App& app, ExitCode& code) {
  CLI::App* show = app.add_subcommand("show", "show the state of a running router");
  show->require_subcommand(1);
  for (const What& what : everything()) {
    CLI::App* sub = show->add_subcommand(what.name, what.help);
    const auto options = std::make_shared<ShowOptions>();
    if (what.of_link) sub->add_option("LINK", options->link, "the link's name")->required();
    add_where(*sub, options->where);
    sub->add_flag("--json", options->json, "print JSON");
    sub->callback([&what, options, &code] { code = run(what, *options); });
  }
  add_show_flows(*show, code);
  CLI::App* routes = show->add_subcommand("routes",
                                          "the routes that serve, or how they differ from "
                                          "the kernel's");
  const auto options = std::make_shared<ShowOptions>();
  routes->add_option("PREFIX", options->prefix, "only those that contain it or lie in it");
  routes->add_option("--diff", options->diff, "print what differs; exit code 1 if anything does")
      ->check(CLI::IsMember({"kernel"}));
  add_where(*routes, options->where);
  routes->add_flag("--json", options->json, "print JSON");
  routes->callback([options, &code] { code = run_routes(*options); });
}

}  // namespace turnpike::ops
