// SPDX-License-Identifier: BSD-3-Clause
// `turnpike trace`: the path of the next packets through a running router.
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "common/units/printable.h"
#include "operator/client.h"
#include "operator/filter.h"
#include "operator/table.h"
#include "operator/verbs.h"

namespace turnpike::ops {
namespace {

struct TraceOptions {
  Where where;
  std::string filter, link;
  uint32_t packets = 10;
  bool json = false;
};

std::string time_text(const Json& packet) {
  const auto ns = packet.value("time_ns", int64_t{0});
  const std::time_t s = ns / 1'000'000'000;
  std::tm local{};
  localtime_r(&s, &local);
  char text[32];
  const size_t n = std::strftime(text, sizeof text, "%H:%M:%S", &local);
  std::snprintf(text + n, sizeof text - n, ".%06d", static_cast<int>(ns % 1'000'000'000 / 1000));
  return text;
}

/// A line for the packet, one for each stage with what it found, and the verdict.
std::string text_of(const Json& packet) {
  std::string out = time_text(packet) + " " + printable(packet.value("headers", ""), 400) + "\n";
  for (const Json& stage : packet.value("stages", Json::array())) {
    std::string line = "  " + stage.value("stage", "");
    line.resize(std::max<size_t>(line.size() + 1, 15), ' ');
    for (const auto& [key, value] : stage.items())
      if (key != "stage") line += key + "=" + value_text(value, Format::kNumber) + " ";
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  out += "  verdict      " + packet.value("verdict", "");
  if (const std::string reason = packet.value("reason", ""); !reason.empty())
    out += ": " + reason + " (" + packet.value("meaning", "") + ")";
  return out + "\n\n";
}

ExitCode run(const TraceOptions& options) {
  Json request{{"request", "trace"}, {"packets", options.packets}};
  if (const auto why = choose_packets(request, options.filter, options.link); !why.empty())
    return fail(kExitUsage, why);
  auto client = Client::reach(options.where);
  if (!client) return client.error();
  uint64_t shown = 0;
  const auto answer = client->follow(std::move(request), [&](const Json& part) {
    if (const auto packet = part.find("packet"); packet != part.end()) {
      ++shown;
      std::fputs((options.json ? packet->dump() + "\n" : text_of(*packet)).c_str(), stdout);
      std::fflush(stdout);
    }
    return true;
  });
  if (!answer) return fail(answer.error());
  if (answer->is_null())  // ended here
    std::fprintf(stderr, "%llu packet(s) traced\n", static_cast<unsigned long long>(shown));
  else if (answer->value("lost", 0) > 0)
    std::fprintf(stderr, "%d record(s) lost: more packets matched than could be read\n",
                 answer->value("lost", 0));
  return kExitOk;
}

}  // namespace

void add_trace(CLI::App& app, ExitCode& code) {
  CLI::App* verb = app.add_subcommand(
      "trace",
      "show each stage that the next packets pass in a running router, and their verdicts");
  const auto options = std::make_shared<TraceOptions>();
  verb->add_option("--filter", options->filter, "packets to trace, as in tcpdump (pcap-filter(7))")
      ->type_name("BPF");
  verb->add_option("-n,--packets", options->packets, "packets to trace (default: 10)")
      ->check(CLI::Range(1, 10'000));
  verb->add_option("--link", options->link, "only packets that arrive by this link")
      ->type_name("LINK");
  verb->add_flag("--json", options->json, "print a JSON object per packet");
  add_where(*verb, options->where);
  verb->callback([options, &code] { code = run(*options); });
}

}  // namespace turnpike::ops
