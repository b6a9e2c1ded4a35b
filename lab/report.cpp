// SPDX-License-Identifier: BSD-3-Clause
// `turnpike report DIR`: renders a run's report again from all files of its folder.
#include "lab/report.h"

#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "common/report/run_data.h"
#include "common/report/run_report.h"
#include "lab/cli/threads_option.h"
#include "lab/cli/verbs.h"

namespace turnpike::lab {

tl::expected<nlohmann::json, std::string> finish_report(
    const std::string& folder, const std::function<void(nlohmann::json&)>& add,
    const Threads& threads) {
  auto run = report::read_run(folder, threads);
  if (!run) return tl::unexpected(run.error());
  report::add_links(*run);
  if (add) add(run->summary);
  std::string summary, page;
  threads.for_each(2, [&](size_t i) {
    if (i == 0)
      summary = run->summary.dump(2) + "\n";
    else
      page = report::run_page(*run);
  });
  return report::write_text(folder + "/summary.json", summary)
      .and_then([&] { return report::write_text(folder + "/report.html", page); })
      .map([&] { return std::move(run->summary); });
}

void add_report(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand("report", "render the report of a run's folder");
  auto folder = std::make_shared<std::string>();
  verb->add_option("DIR", *folder, "folder with summary.json")->required();
  auto threads = std::make_shared<unsigned>(1);
  add_threads(*verb, *threads, "render");
  verb->callback([folder, threads, &code] {
    const auto summary = finish_report(*folder, {}, Threads(*threads));
    if (summary) {
      std::printf("%s/report.html\n", folder->c_str());
    } else {
      std::fprintf(stderr, "turnpike report: %s\n", summary.error().c_str());
      code = kExitRuntime;
    }
  });
}

}  // namespace turnpike::lab
