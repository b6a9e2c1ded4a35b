// SPDX-License-Identifier: BSD-3-Clause
// `turnpike accounts FILE...`: what a gateway carried beside what fixed-rate shapers would have.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>

#include "common/config/load.h"
#include "common/program/command_line.h"
#include "common/report/whole_file.h"
#include "common/units/printable.h"
#include "common/units/text.h"
#include "operator/accounts/compare.h"
#include "operator/client.h"
#include "operator/verbs.h"

namespace turnpike::ops {
namespace {

constexpr double kPacket = 1500;  // B, the least that a buffer holds
constexpr double kBurst = 10 * kPacket;
constexpr size_t kNamed = 5;  // customers in a message

struct AccountOptions {
  std::vector<std::string> files;
  std::vector<std::string> shapers;  // RATE or CUSTOMER=RATE
  std::string topology, node, link, page;
  Nanos buffer = 100_ms;
  bool json = false;
};

/// Rates of shapers, B/s.
struct Rates {
  double all = 0;  // of customers without an own one; 0: none
  std::map<std::string, double, std::less<>> own;
};

tl::expected<Rates, std::string> parse_rates(const std::vector<std::string>& texts) {
  Rates rates;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const auto rate = parse_quantity<BitRate>(
        equals == text.npos ? std::string_view(text) : std::string_view(text).substr(equals + 1));
    if (!rate) return tl::unexpected("--shaper " + text + ": " + rate.error());
    if (!(rate->count() > 0)) return tl::unexpected("--shaper " + text + ": a rate is above 0");
    const double bytes = bytes_per_second(*rate);
    if (equals == text.npos) {
      if (rates.all > 0) return tl::unexpected("--shaper " + text + ": there is one for all");
      rates.all = bytes;
    } else if (!rates.own.emplace(text.substr(0, equals), bytes).second) {
      return tl::unexpected("--shaper " + text + ": this customer has one");
    }
  }
  return rates;
}

ExitCode print(const std::vector<config::Mistake>& mistakes) {
  for (const config::Mistake& m : mistakes) std::fprintf(stderr, "%s\n", m.text().c_str());
  return kExitBadConfiguration;
}

ExitCode usage(const std::string& why) { return fail(kExitUsage, why); }

/// The rate that customers share, B/s: that of --link, or of the gateway's first core link.
tl::expected<double, std::string> shared_rate(const AccountOptions& o, const config::Topology& t) {
  if (!o.link.empty()) {
    std::vector<std::string_view> known;
    for (const config::Link& l : t.links) {
      known.emplace_back(l.name);
      if (l.name == o.link)
        return bytes_per_second(std::min(l.directions[0].rate, l.directions[1].rate));
    }
    return tl::unexpected("--link: there is no link '" + printable(o.link, 60) + "'" +
                          config::suggestion(o.link, known));
  }
  std::string names;
  for (const config::Gateway& g : t.gateways) {
    const std::string& name = t.routers[g.router].name;
    names += (names.empty() ? "" : ", ") + name;
    if (name != o.node && !(o.node.empty() && t.gateways.size() == 1)) continue;
    const config::Link& core = t.links[g.core.front()];
    return bytes_per_second(core.directions[core.end_at(name)].rate);
  }
  return tl::unexpected(names.empty()
                            ? o.topology + " has no gateway: give --link"
                            : "select a gateway of " + o.topology + " with --node: " + names);
}

/// Each customer's share of a link by its budget, among those that have accounts.
tl::expected<void, ExitCode> take_budgets(const AccountOptions& o,
                                          const std::vector<CustomerLines>& accounts,
                                          Rates& rates) {
  const auto loaded = config::load_file(o.topology);
  if (!loaded) return tl::unexpected(print(loaded.error()));
  const auto shared = shared_rate(o, *loaded);
  if (!shared) return tl::unexpected(usage(shared.error()));
  std::map<std::string_view, double> configured;
  for (const config::Customer& c : loaded->customers) configured[c.name] = c.budget.count();
  double sum = 0;
  for (const CustomerLines& account : accounts)
    if (const auto at = configured.find(account.name); at != configured.end()) sum += at->second;
  for (const CustomerLines& account : accounts)
    if (const auto at = configured.find(account.name); at != configured.end() && sum > 0)
      rates.own.emplace(account.name, *shared * at->second / sum);
  return {};
}

/// Compares all customers; the error is one of the command.
tl::expected<void, std::string> compare_all(const Rates& rates, AccountReport& report) {
  std::string without;
  size_t count = 0;
  for (const CustomerLines& c : report.accounts) {
    const auto own = rates.own.find(c.name);
    const double rate = own != rates.own.end() ? own->second : rates.all;
    if (rate > 0) {
      report.customers.push_back(compare(c, {.rate = rate,
                                             .buffer = std::max(kPacket, rate * report.buffer_s),
                                             .burst = report.burst}));
    } else if (count++ < kNamed) {
      without += (without.empty() ? "" : ", ") + printable(c.name, 60);
    }
  }
  if (count == 0) return {};
  return tl::unexpected("no shaper's rate for " + std::to_string(count) + " customers: " + without +
                        (count > kNamed ? ", ..." : ""));
}

/// The span of all lines.
void take_span(AccountReport& report) {
  report.from = std::numeric_limits<double>::infinity();
  report.to = -report.from;
  for (const CustomerLines& c : report.accounts)
    for (const AccountLine& line : c.lines) {
      report.from = std::min(report.from, line.time - line.seconds);
      report.to = std::max(report.to, line.time);
    }
}

ExitCode run(const AccountOptions& o) {
  auto rates = parse_rates(o.shapers);
  if (!rates) return usage(rates.error());
  if (o.shapers.empty() && o.topology.empty())
    return usage(
        "give the shapers' rates: --shaper RATE, --shaper CUSTOMER=RATE, or --topology FILE for "
        "each customer's share of the core");
  AccountReport report;
  report.files = o.files;
  report.buffer_s = to_seconds(o.buffer);
  report.burst = kBurst;
  AccountReader reader;
  config::Mistakes mistakes(o.files.front());
  std::set<std::filesystem::path> known;
  for (const std::string& file : o.files) {
    std::error_code ignored;
    if (!known.insert(std::filesystem::weakly_canonical(file, ignored)).second)
      return usage(printable(file, 200) + " is named twice");
    reader.read(file, mistakes);
  }
  if (!mistakes.empty()) return print(mistakes.sorted());
  report.accounts = reader.take();
  if (report.accounts.empty()) return fail(kExitRuntime, "the files have no account of a customer");

  std::vector<std::string_view> names;
  for (const CustomerLines& c : report.accounts) names.emplace_back(c.name);
  for (const auto& [name, rate] : rates->own)
    if (!std::ranges::binary_search(names, name))
      return usage("--shaper: there is no account of '" + printable(name, 60) + "'" +
                   config::suggestion(name, names));
  if (!o.topology.empty())
    if (const auto taken = take_budgets(o, report.accounts, *rates); !taken) return taken.error();
  if (const auto compared = compare_all(*rates, report); !compared) return usage(compared.error());
  take_span(report);
  std::fputs((o.json ? report_json(report).dump(2) + "\n" : report_text(report)).c_str(), stdout);
  if (o.page.empty()) return kExitOk;
  if (const auto done = report::write_text(o.page, report_page(report)); !done)
    return fail(kExitRuntime, done.error());
  return kExitOk;
}

}  // namespace

void add_accounts(CLI::App& app, ExitCode& code) {
  CLI::App* verb = app.add_subcommand(
      "accounts", "compare a gateway's accounts with what fixed-rate shapers would have carried");
  const auto o = std::make_shared<AccountOptions>();
  verb->add_option("FILE", o->files, "account files of one gateway")->required();
  verb->add_option("--shaper", o->shapers,
                   "rate of a shaper for each customer, such as 20Mbps, or for one: anna=20Mbps")
      ->type_name("[CUSTOMER=]RATE");
  verb->add_option("--topology", o->topology,
                   "give other customers the share of a link that their budgets in this file buy")
      ->type_name("FILE");
  verb->add_option("--link", o->link,
                   "that link (default: the first core link of the gateway --node)")
      ->type_name("LINK");
  verb->add_option("--node", o->node, "gateway of that file (default: the only one)")
      ->type_name("ROUTER");
  add_time(
      *verb, "--buffer", [o](Nanos t) { o->buffer = t; },
      "longest delay in a shaper's queue (default: 100ms)");
  verb->add_flag("--json", o->json, "print JSON");
  verb->add_option("--html", o->page, "page to write, with figures")->type_name("FILE");
  verb->callback([o, &code] { code = run(*o); });
}

}  // namespace turnpike::ops
