// SPDX-License-Identifier: BSD-3-Clause
// Forwards under one load, or sends with so many flows, for a given number of polls and says how
// many packets that were, for bench/instructions.py, which counts instructions from outside.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "bench/loads.h"
#include "bench/sending.h"
#include "common/dpdk/eal.h"

namespace {

using namespace turnpike;

constexpr std::string_view kSender = "sender/flows:";

unsigned number(std::string_view text) {
  unsigned n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

uint64_t forward(const bench::Load& load, unsigned polls) {
  bench::Forwarding f(load);
  uint64_t packets = 0;
  for (unsigned i = 0; i < polls; ++i) packets += f.poll();
  return packets;
}

uint64_t send(unsigned flows, unsigned polls) {
  bench::Sending s(flows);
  Nanos now = s.warm_up();
  uint64_t packets = 0;
  for (unsigned i = 0; i < polls; ++i) packets += s.poll(now += s.step());
  return packets;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc == 3 ? argv[1] : "";
  const unsigned polls = argc == 3 ? number(argv[2]) : 0;
  const unsigned flows = name.starts_with(kSender) ? number(name.substr(kSender.size())) : 0;
  const bench::Named* chosen = nullptr;
  for (const bench::Named& n : bench::kLoads)
    if (name == n.name) chosen = &n;
  if (polls == 0 || (flows == 0 && chosen == nullptr)) {
    std::fputs(
        "usage: bench-count LOAD POLLS; LOAD is one of bench/loads.h, or sender/flows:NUMBER\n",
        stderr);
    return 2;
  }
  const auto eal = Eal::start({.program = "bench", .memory_mb = 2048});
  if (!eal) {
    std::fprintf(stderr, "%s\n", eal.error().c_str());
    return 1;
  }
  const uint64_t packets = flows > 0 ? send(flows, polls) : forward(chosen->load, polls);
  std::printf("%llu\n", static_cast<unsigned long long>(packets));
}
