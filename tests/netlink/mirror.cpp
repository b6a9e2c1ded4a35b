// SPDX-License-Identifier: BSD-3-Clause
// Mirrors the kernel's routes and neighbours into maps, for tests with a real kernel.
// Usage: mirror [--buffer BYTES] [--period MS] [--debounce MS] INTERFACE=LINK...
// Commands on standard input, one a line, each with an answer of one JSON line:
//   settle   waits until all that the kernel told has been applied, and answers with the counters
//   dump     the same, then routes and neighbours
//   peek     as dump, but does not wait for a resynchronisation
//   compare  the differences to a dump of the kernel's
//   resolve LINK ADDRESS   asks the kernel for a neighbour
//   resync   reads the whole state again
//   hold     reads no notifications until the next command
// Resynchronisations and changes of links go to standard error.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <poll.h>

#include "common/config/address.h"
#include "router/linux/compare.h"
#include "router/linux/kernel_reader.h"
#include "router/linux/route_map.h"

namespace {

using namespace turnpike;
using namespace turnpike::router;
using nlohmann::json;

Nanos now() {
  return Nanos(std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::steady_clock::now().time_since_epoch())
                   .count());
}

class Listener final : public KernelListener {
 public:
  void link_changed(size_t link, const LinkStatus& s) override {
    std::fprintf(stderr, "link %zu present %d up %d carrier %d mtu %u\n", link, s.present ? 1 : 0,
                 s.up ? 1 : 0, s.carrier ? 1 : 0, s.mtu);
  }
  void resynchronised(const Resync& resync) override {
    std::fprintf(stderr, "%s\n", to_text(resync).c_str());
  }
};

json gateway(const Path& path) {
  if (const auto* v4 = std::get_if<config::Ipv4>(&path.gateway)) return config::ipv4_text(*v4);
  if (const auto* v6 = std::get_if<config::Ipv6>(&path.gateway)) return config::ipv6_text(*v6);
  return nullptr;
}

json contents(const RouteMap& map) {
  json routes = json::array(), neighbours = json::array();
  for (const auto& [key, route] : map.routes) {
    json paths = json::array();
    for (const Path& p : route.paths) {
      paths.push_back({{"link", p.link}, {"gateway", gateway(p)}, {"weight", p.weight}});
    }
    routes.push_back({{"prefix", to_text(key.prefix)},
                      {"action", to_text(route.action)},
                      {"distance", route.distance},
                      {"metric", route.metric},
                      {"paths", paths}});
  }
  for (const auto& [key, mac] : map.neighbours) {
    neighbours.push_back(
        {{"link", key.link}, {"address", to_text(key.address)}, {"mac", config::mac_text(mac)}});
  }
  return {{"routes", routes}, {"neighbours", neighbours}};
}

json counters(const KernelReader& reader, const RouteMap& map) {
  const ReaderCounts& c = reader.counts();
  const RouteCounts& r = reader.state().routes();
  json resyncs = json::object();
  for (size_t i = 0; i < c.resyncs.size(); ++i) {
    resyncs[std::string(to_text(static_cast<ResyncReason>(i)))] = c.resyncs[i];
  }
  return {{"notifications", c.notifications},
          {"dumped", c.dumped},
          {"malformed", c.malformed},
          {"overruns", c.overruns},
          {"lost", c.lost},
          {"interrupted", c.interrupted},
          {"failed", c.failed},
          {"resyncs", resyncs},
          {"last_resync_ns", c.last_resync.count()},
          {"longest_resync_ns", c.longest_resync.count()},
          {"resolve_asked", c.resolve_asked},
          {"probed", c.probed},
          {"resolve_recent", c.resolve_recent},
          {"resolve_failed", c.resolve_failed},
          {"ipv4", r.ipv4},
          {"ipv6", r.ipv6},
          {"held", r.held},
          {"rejected", r.rejected},
          {"unknown_removed", r.unknown_removed},
          {"ambiguous", r.ambiguous},
          {"receive_buffer", reader.receive_buffer()},
          {"commits", map.commits},
          {"calls", map.calls}};
}

class KernelMirror {
 public:
  KernelMirror(KernelReader& reader, RouteMap& map, Interfaces::Names names)
      : reader_(reader), map_(map), names_(std::move(names)) {}

  int run() {
    Nanos due = reader_.poll(now());
    for (;;) {
      wait(due);
      if (input_ready_) {
        std::string line;
        if (!std::getline(std::cin, line)) return 0;
        hold_ = false;
        const json reply = answer(line);
        std::cout << reply.dump() << std::endl;
      }
      if (!hold_) due = reader_.poll(now());
    }
  }

 private:
  void wait(Nanos due) {
    const auto fds = reader_.fds();
    std::array<pollfd, 3> polled{pollfd{.fd = 0, .events = POLLIN, .revents = 0},
                                 pollfd{.fd = fds[0], .events = POLLIN, .revents = 0},
                                 pollfd{.fd = fds[1], .events = POLLIN, .revents = 0}};
    const int64_t left = std::max<int64_t>(0, (due - now()).count() / 1'000'000 + 1);
    // Commands are read by the line; the stream may hold one already.
    input_ready_ = std::cin.rdbuf()->in_avail() > 0;
    if (input_ready_) return;
    ::poll(polled.data(), hold_ ? 1 : polled.size(),
           hold_ ? -1 : static_cast<int>(std::min<int64_t>(left, 1000)));
    input_ready_ = (polled[0].revents & (POLLIN | POLLHUP)) != 0;
  }

  // A resynchronisation may be wanted that --debounce puts off for an hour: it does not count.
  void settle() {
    constexpr Nanos kPutOff = 600_s;
    for (;;) {
      const Nanos due = reader_.poll(now());
      if (reader_.settled() || due - now() > kPutOff) return;
      wait(due);
    }
  }

  json answer(const std::string& line) {
    std::istringstream words(line);
    std::string verb, address;
    size_t link = 0;
    words >> verb >> link >> address;
    if (verb == "hold") {
      hold_ = true;
      return "held";
    }
    if (verb == "resolve") {
      const auto v4 = config::parse_ipv4(address);
      const auto v6 = config::parse_ipv6(address);
      return reader_.resolve(link, v4 ? Address(*v4) : Address(v6.value_or(config::Ipv6{})), now());
    }
    const Nanos begin = now();
    if (verb == "resync") reader_.resync(begin);
    if (verb == "peek") {
      Nanos at = now();
      while (reader_.poll(at) <= at) at = now();
    } else {
      settle();
    }
    if (verb == "compare") {
      auto comparison = KernelComparison::open();
      if (!comparison) return {{"error", comparison.error()}};
      const auto c = comparison->compare(names_, default_distances(), [this](const auto& visit) {
        for (const auto& [key, route] : map_.routes) visit(key.prefix, route);
      });
      if (!c) return {{"error", c.error()}};
      json lines = json::array();
      for (const auto& d : c->differences) lines.push_back(to_text(d, names_));
      return {{"kernel", c->kernel}, {"held", c->held}, {"differences", lines}};
    }
    json reply = verb == "dump" || verb == "peek" ? contents(map_) : json::object();
    reply["counters"] = counters(reader_, map_);
    reply["settled_after_ns"] = (now() - begin).count();
    return reply;
  }

  KernelReader& reader_;
  RouteMap& map_;
  Interfaces::Names names_;
  bool hold_ = false, input_ready_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> interfaces;
  RouteMap map;
  Listener listener;
  KernelReader::Limits limits;
  int64_t period_ms = 30'000, debounce_ms = 100;
  CLI::App app("mirrors the kernel's routes");
  app.add_option("--buffer", limits.receive_buffer);
  app.add_option("--period", period_ms);
  app.add_option("--debounce", debounce_ms);
  app.add_option("interfaces", interfaces);
  CLI11_PARSE(app, argc, argv);
  limits.period = Nanos(period_ms * 1'000'000);
  limits.debounce = Nanos(debounce_ms * 1'000'000);
  limits.max_debounce = limits.debounce * 10;
  Interfaces::Names names;
  for (const std::string& text : interfaces) {
    const size_t equals = text.find('=');
    names[text.substr(0, equals)] = std::stoul(text.substr(equals + 1));
  }
  const auto reader = KernelReader::open(
      {.sink = map, .listener = listener, .interfaces = names, .limits = limits});
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().c_str());
    return 1;
  }
  std::ios::sync_with_stdio(false);
  return KernelMirror(**reader, map, names).run();
}
