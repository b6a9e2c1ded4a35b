// SPDX-License-Identifier: BSD-3-Clause
// `turnpike doctor [FILE]`: what hinders a router on this machine, and the commands that mend it.
#include "operator/doctor/doctor.h"

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "common/config/load.h"
#include "operator/verbs.h"

namespace turnpike::ops {

Json findings_json(const Findings& findings) {
  Json rows = Json::array();
  for (const Finding& f : findings)
    rows.push_back({{"check", f.check},
                    {"severity", name_of(f.severity)},
                    {"text", f.text},
                    {"mend", f.mend}});
  return rows;
}

Json drivers_json(const Machine& machine, const Wanted& wanted) {
  Json rows = Json::array();
  for (const Wanted::Interface& i : wanted.interfaces)
    if (const auto driver = machine.driver(i.name))
      rows.push_back({{"interface", i.name},
                      {"driver", driver->name},
                      {"version", driver->version},
                      {"firmware", driver->firmware},
                      {"bus", driver->bus}});
  return rows;
}

std::string findings_text(const Findings& findings) {
  std::string out;
  for (const Finding& f : findings) {
    out += std::string(name_of(f.severity)) + "  " + f.check + ": " + f.text + "\n";
    if (!f.mend.empty()) out += "       mend: " + f.mend + "\n";
  }
  return out.empty() ? "nothing to mend\n" : out;
}

Json router_facts(const Where& where) {
  auto client = Client::connect(where);
  if (!client) return nullptr;
  const auto version = client->ask({{"request", "show"}, {"what", "version"}});
  return version ? *version : Json(nullptr);
}

namespace {

struct DoctorOptions {
  std::string file, root;
  Where where;
  bool json = false;
};

ExitCode run(const DoctorOptions& options) {
  Wanted wanted;
  if (!options.file.empty()) {
    const config::Loaded loaded = config::load_file(options.file);
    if (!loaded) {
      for (const config::Mistake& m : loaded.error())
        std::fprintf(stderr, "%s\n", m.text().c_str());
      return kExitBadConfiguration;
    }
    wanted = wanted_of(*loaded);
  }
  const Machine machine(options.root);
  const Findings findings = examine(machine, wanted);
  const Json drivers = drivers_json(machine, wanted);
  const Json router = router_facts(options.where);
  if (options.json) {
    const Json all{{"findings", findings_json(findings)}, {"drivers", drivers}, {"router", router}};
    std::fputs((all.dump(2) + "\n").c_str(), stdout);
  } else {
    std::fputs(findings_text(findings).c_str(), stdout);
    for (const Json& row : drivers)
      std::printf(
          "%s: driver %s %s, firmware %s\n", row.value("interface", "").c_str(),
          row.value("driver", "").c_str(), row.value("version", "").c_str(),
          row.value("firmware", "").empty() ? "unknown" : row.value("firmware", "").c_str());
    if (router.is_object())
      std::printf("router %s answers: %s\n", router.value("router", "").c_str(),
                  router.value("text", "").c_str());
  }
  return ill(findings) ? kExitHostNotReady : kExitOk;
}

}  // namespace

void add_doctor(CLI::App& app, ExitCode& code) {
  CLI::App* verb = app.add_subcommand("doctor",
                                      "find what stops or harms a router on this machine, with the "
                                      "commands that mend it; exit 4 if "
                                      "there is something");
  const auto options = std::make_shared<DoctorOptions>();
  verb->add_option("FILE", options->file, "the topology whose ports and lcores to look at");
  verb->add_option("--root", options->root, "read proc/, sys/ and dev/ below this folder")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  verb->add_flag("--json", options->json, "print JSON");
  add_where(*verb, options->where);
  verb->callback([options, &code] { code = run(*options); });
}

}  // namespace turnpike::ops
