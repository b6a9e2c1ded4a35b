// SPDX-License-Identifier: BSD-3-Clause
// `turnpike bypass`: takes a customer of a running gateway out of its tunnels, and back.
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "operator/client.h"
#include "operator/verbs.h"

namespace turnpike::ops {

namespace {

struct BypassOptions {
  Where where;
  std::string customer;
  bool off = false, json = false;
};

}  // namespace

void add_bypass(CLI::App& app, ExitCode& code) {
  const auto options = std::make_shared<BypassOptions>();
  CLI::App* verb = app.add_subcommand(
      "bypass", "forward a gateway's customer outside of tunnels, unqueued and without a price");
  verb->add_option("CUSTOMER", options->customer, "its name in the topology file")->required();
  verb->add_flag("--off", options->off, "carry its packets in tunnels again");
  add_where(*verb, options->where);
  verb->add_flag("--json", options->json, "print JSON");
  verb->callback([options, &code] {
    code =
        carry_out(options->where,
                  {{"request", "bypass"}, {"customer", options->customer}, {"on", !options->off}},
                  options->json);
  });
}

}  // namespace turnpike::ops
