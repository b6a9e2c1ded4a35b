// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/options.h"

#include <CLI/CLI.hpp>

#include "common/metrics/log.h"
#include "common/program/version.h"

namespace turnpike::router {

tl::expected<Options, int> parse_options(int argc, char** argv) {
  Options o;
  const auto parsed = parse_command_line(
      argc, argv,
      {.name = "turnpike-router",
       .description =
           "Forwards and prices packets as a router of a Turnpike topology, until INT or "
           "TERM or for --duration.",
       .version_line = version_line("turnpike-router")},
      o, [&o](CLI::App& app) {
        add_time(
            app, "--slack", [&o](Nanos t) { o.slack = t; },
            "link time that a late poll may catch up on (default: 64ms)");
        app.add_option("--state", o.state,
                       "folder of applied configurations: the last committed one starts, and HUP "
                       "reloads FILE")
            ->type_name("DIR");
        app.add_option("--accounting", o.accounting,
                       "folder in which a gateway writes each second what its customers sent and "
                       "paid (default: it does not)")
            ->type_name("DIR");
        app.add_option(
               "--control", o.control,
               "folder of the control socket, or off (default: the folder of run-time files)")
            ->type_name("DIR");
        app.add_option_function<std::string>(
               "--metrics",
               [&o](const std::string& text) {
                 auto address = MetricsAddress::parse(text);
                 if (!address) throw CLI::ValidationError("--metrics", address.error());
                 o.metrics = std::move(*address);
               },
               "serve metrics over HTTP at this address and port; a port alone is of 127.0.0.1 "
               "(default: do not)")
            ->type_name("[ADDRESS:]PORT");
        app.add_option("--netlink-buffer", o.netlink_buffer,
                       "room for changes that Linux announces and the router has not read yet "
                       "(default: 67108864)")
            ->type_name("BYTES");
        // FILE is missing only in this form.
        app.add_flag_callback(
               "--remove-interfaces",
               [&app, &o] {
                 o.remove_interfaces = true;
                 app.get_option("FILE")->required(false);
               },
               "remove the interfaces in Linux that earlier runs of this router, or without FILE "
               "of "
               "any router, left, then exit")
            ->trigger_on_parse();
        app.add_option("--log-level", o.log_level,
                       "lowest level logged: " + std::string(metrics::kLogLevels));
      });
  if (!parsed) return tl::unexpected(parsed.error());
  return o;
}

}  // namespace turnpike::router
