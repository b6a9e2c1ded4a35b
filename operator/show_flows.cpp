// SPDX-License-Identifier: BSD-3-Clause
// `turnpike show flows`: the flows that spend most, from a sample of the packets that a router
// sends.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <poll.h>

#include "operator/client.h"
#include "operator/table.h"
#include "operator/verbs.h"

namespace turnpike::ops {
namespace {

constexpr int kPauseMs = 100;
constexpr int kMaxPauses = 100;

struct FlowOptions {
  Where where;
  std::string link;
  unsigned limit = 20;
  bool json = false;
};

std::string text_of_flows(const Json& answer) {
  static const std::vector<Column> kColumns{{"LINK", "link"},
                                            {"CUSTOMER", "customer"},
                                            {"SOURCE", "source"},
                                            {"DESTINATION", "destination"},
                                            {"PROTOCOL", "protocol"},
                                            {"PRICE $/B", "price", Format::kNumber},
                                            {"RATE", "rate_bps", Format::kRate},
                                            {"SPEND $/s", "spend", Format::kNumber}};
  const Json& rows = answer["flows"];
  return (rows.empty() ? "" : table_text(kColumns, rows)) + std::to_string(rows.size()) + " of " +
         answer.value("all", Json(0)).dump() + " flows seen in " +
         value_text(answer.value("window_s", Json(0)), Format::kNumber) + " s, by one packet in " +
         answer.value("sample", Json(0)).dump() + "\n";
}

/// The first answers have no flows: the router begins to count with the first request.
ExitCode run_flows(const FlowOptions& options) {
  auto client = Client::reach(options.where);
  if (!client) return client.error();
  Json request{{"request", "flows"}, {"limit", options.limit}};
  if (!options.link.empty()) request["link"] = options.link;
  for (int pauses = 0; pauses < kMaxPauses; ++pauses) {
    const auto answer = client->ask(request);
    if (!answer) return fail(answer.error());
    if (!answer->value("flows", Json()).is_null()) {
      std::fputs((options.json ? answer->dump(2) + "\n" : text_of_flows(*answer)).c_str(), stdout);
      return kExitOk;
    }
    ::poll(nullptr, 0, kPauseMs);
  }
  return fail(kExitRuntime, "router " + client->router() + " has not counted a window of flows");
}

}  // namespace

void add_show_flows(CLI::App& show, ExitCode& code) {
  CLI::App* flows = show.add_subcommand("flows", "the flows that spend most, in the last second");
  const auto options = std::make_shared<FlowOptions>();
  flows->add_option("--link", options->link, "only flows that leave by this link")
      ->type_name("LINK");
  flows->add_option("--limit", options->limit, "flows to show (default: 20)")
      ->check(CLI::Range(1, 512));
  add_where(*flows, options->where);
  flows->add_flag("--json", options->json, "print JSON");
  flows->callback([options, &code] { code = run_flows(*options); });
}

}  // namespace turnpike::ops
