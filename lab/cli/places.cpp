// SPDX-License-Identifier: BSD-3-Clause
#include "lab/cli/places.h"

#include <sstream>
#include <utility>

namespace turnpike::lab {
namespace {

void add_options(CLI::App& verb, const std::string& name, std::vector<std::string>& out,
                 const std::string& help) {
  verb.add_option(name, out, help)->type_name("OPTION")->allow_extra_args(false);
}

}  // namespace

CLI::Option* add_places(CLI::App& verb, std::vector<Placement>& out) {
  return verb
      .add_option_function<std::vector<std::string>>(
          "--on",
          [&out](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              auto placement = Placement::parse(text);
              if (!placement) throw CLI::ValidationError("--on", placement.error());
              out.push_back(std::move(*placement));
            }
          },
          "ssh:HOST=NODE,NODE: a machine that ssh reaches, and the routers and hosts that it runs; "
          "may be repeated; all others run here")
      ->type_name("PLACE")
      ->allow_extra_args(false);
}

void add_ssh(CLI::App& verb, std::string& ssh, std::string& program) {
  verb.add_option("--ssh", ssh, "command that connects to a host, such as 'ssh -p 2222'")
      ->type_name("COMMAND")
      ->capture_default_str();
  verb.add_option("--program", program,
                  "this program's path on the other machines (default: the same as here)")
      ->type_name("PATH");
}

void add_program_options(CLI::App& verb, std::vector<std::string>& router,
                         std::vector<std::string>& sender) {
  add_options(verb, "--router-option", router,
              "for every turnpike-router, such as --idle=poll; may be repeated");
  add_options(verb, "--sender-option", sender,
              "for every turnpike-sender, such as --lcores=18,20; may be repeated");
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

}  // namespace turnpike::lab
