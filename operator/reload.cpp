// SPDX-License-Identifier: BSD-3-Clause
// `turnpike reload`, `commit`, `rollback`: changes the configuration of a running router.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "common/program/command_line.h"
#include "operator/client.h"
#include "operator/verbs.h"

namespace turnpike::ops {

namespace {

struct ReloadOptions {
  Where where;
  std::string file;
  bool dry_run = false, json = false;
  std::optional<Nanos> confirm;
  unsigned steps = 1;
};

void add_common(CLI::App& verb, ReloadOptions& options) {
  add_where(verb, options.where);
  verb.add_flag("--json", options.json, "print JSON");
}

}  // namespace

void add_reload(CLI::App& app, ExitCode& code) {
  const auto options = std::make_shared<ReloadOptions>();
  CLI::App* verb = app.add_subcommand("reload", "change a running router's configuration");
  verb->add_option("FILE", options->file,
                   "topology file (default: the one that the router was started with)");
  verb->add_flag("--dry-run", options->dry_run, "print what would change, and change nothing");
  add_time(
      *verb, "--confirm", [options](Nanos t) { options->confirm = t; },
      "go back to the former configuration after this time, unless `turnpike commit` comes first");
  add_common(*verb, *options);
  verb->callback([options, &code] {
    Json request{{"request", "reload"}, {"dry_run", options->dry_run}};
    if (!options->file.empty()) request["file"] = std::filesystem::absolute(options->file).string();
    if (options->confirm) request["confirm_s"] = to_seconds(*options->confirm);
    code = carry_out(options->where, std::move(request), options->json);
  });
}

void add_commit(CLI::App& app, ExitCode& code) {
  const auto options = std::make_shared<ReloadOptions>();
  CLI::App* verb =
      app.add_subcommand("commit", "keep the configuration of `turnpike reload --confirm`");
  add_common(*verb, *options);
  verb->callback([options, &code] {
    code = carry_out(options->where, {{"request", "commit"}}, options->json);
  });
}

void add_rollback(CLI::App& app, ExitCode& code) {
  const auto options = std::make_shared<ReloadOptions>();
  CLI::App* verb = app.add_subcommand("rollback", "go back to an earlier configuration");
  verb->add_option("N", options->steps, "how many configurations to go back (default: 1)")
      ->check(CLI::Range(1U, 1000U));
  verb->add_flag("--dry-run", options->dry_run, "print what would change, and change nothing");
  add_common(*verb, *options);
  verb->callback([options, &code] {
    code = carry_out(
        options->where,
        {{"request", "rollback"}, {"steps", options->steps}, {"dry_run", options->dry_run}},
        options->json);
  });
}

}  // namespace turnpike::ops
