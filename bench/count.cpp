// SPDX-License-Identifier: BSD-3-Clause
// Forwards under one load, sends with a number of flows, or tunnels for a number of customers. For
// a given number of polls it prints the number of packets, for bench/instructions.py, which counts
// instructions with callgrind; or, for each line of its input, the cycles per packet over that many
// seconds, for bench/ab.py.
#include <charconv>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>

#include <rte_cycles.h>

#include "bench/loads.h"
#include "bench/sending.h"
#include "bench/tunnelling.h"
#include "common/dpdk/eal.h"

namespace {

using namespace turnpike;
using Poll = std::function<uint64_t()>;  // returns how many packets it moved

constexpr std::string_view kSender = "sender/flows:";
constexpr std::pair<std::string_view, bench::Tunnelling::Options> kTunnels[] = {
    {"tunnels/customers:", {}},
    {"tunnels/sealed:", {.sealed = true}},
    {"tunnels/own:", {.lcores = 2}},
    {"tunnels/handed:", {.lcores = 2, .handed = true}}};
constexpr unsigned kPollsAtOnce = 64;  // between two looks at the time

unsigned number(std::string_view text) {
  unsigned n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

Poll forward(const bench::Load& load) {
  return [f = std::make_shared<bench::Forwarding>(load)] { return f->poll(); };
}

Poll send(unsigned flows) {
  auto s = std::make_shared<bench::Sending>(flows);
  return [s, now = s->warm_up()]() mutable { return s->poll(now += s->step()); };
}

Poll tunnel(const bench::Tunnelling::Options& options) {
  return [t = std::make_shared<bench::Tunnelling>(options)] { return t->poll(); };
}

/// Null: no such load.
Poll find(std::string_view name) {
  if (name.starts_with(kSender)) {
    const unsigned flows = number(name.substr(kSender.size()));
    return flows > 0 ? send(flows) : Poll();
  }
  for (auto [stem, options] : kTunnels) {
    if (!name.starts_with(stem)) continue;
    options.customers = number(name.substr(stem.size()));
    return options.customers > 0 ? tunnel(options) : Poll();
  }
  for (const bench::Named& n : bench::kLoads)
    if (name == n.name) return forward(n.load);
  return {};
}

void count(const Poll& poll, unsigned polls) {
  uint64_t packets = 0;
  for (unsigned i = 0; i < polls; ++i) packets += poll();
  std::cout << packets << std::endl;
}

void take_turns(const Poll& poll) {
  std::cout << "ready" << std::endl;
  for (double seconds; std::cin >> seconds;) {
    for (unsigned i = 0; i < kPollsAtOnce; ++i) poll();  // other programs have used the caches
    uint64_t packets = 0;
    const uint64_t begin = rte_rdtsc();
    const auto length = static_cast<uint64_t>(seconds * static_cast<double>(rte_get_tsc_hz()));
    while (rte_rdtsc() - begin < length)
      for (unsigned i = 0; i < kPollsAtOnce; ++i) packets += poll();
    const auto cycles = static_cast<double>(rte_rdtsc() - begin);
    std::cout << cycles / static_cast<double>(packets) << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned polls = argc == 3 ? number(argv[2]) : 0;
  const bool understood = argc == 2 || polls > 0;
  const auto eal = Eal::start({.program = "bench", .memory_mb = 2048});
  if (!eal) {
    std::fprintf(stderr, "%s\n", eal.error().c_str());
    return 1;
  }
  const Poll poll = understood ? find(argv[1]) : Poll();
  if (!poll) {
    std::fputs(
        "usage: bench-count LOAD [POLLS]; LOAD is one of bench/loads.h, sender/flows:NUMBER or\n"
        "tunnels/KIND:NUMBER with customers, sealed, own or handed;\n"
        "without POLLS, numbers of seconds are read from standard input\n",
        stderr);
    return 2;
  }
  polls > 0 ? count(poll, polls) : take_turns(poll);
  return 0;
}
