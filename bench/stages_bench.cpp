// SPDX-License-Identifier: BSD-3-Clause
// Stages of the datapath by themselves, their data in the first cache. One item is a packet.
#include <array>

#include <benchmark/benchmark.h>

#include "bench/measure.h"
#include "bench/stage_bed.h"
#include "router/datapath/ingress/parse.h"
#include "router/datapath/link/link_queue.h"
#include "router/datapath/lookup/lookup.h"

namespace turnpike::bench {
namespace {

using Packets = StageBed::Packets;

void parse(benchmark::State& state, Packets kind) {
  StageBed bed(2, "none", kind);
  const auto burst = static_cast<unsigned>(state.range(0));
  measure(state, [&] {
    bed.receive(burst, 0_ns);
    router::parse(bed.burst, bed.context);
    benchmark::DoNotOptimize(bed.burst.forward);
    return burst;
  });
  if (bed.burst.forward == 0) state.SkipWithError("parse refuses the packets");
}

void bursts(benchmark::internal::Benchmark* b) { b->ArgName("burst")->Arg(1)->Arg(8)->Arg(32); }
BENCHMARK_CAPTURE(parse, ipv4, Packets::kIpv4)->Apply(bursts);
BENCHMARK_CAPTURE(parse, ipv6, Packets::kIpv6)->Apply(bursts);
BENCHMARK_CAPTURE(parse, fcp, Packets::kFcp)->Apply(bursts);

// Arguments: packets per burst, links; the bursts go to the links in turn, 100 ns per packet.
void price(benchmark::State& state) {
  const auto burst = static_cast<unsigned>(state.range(0));
  const auto links = static_cast<unsigned>(state.range(1));
  StageBed bed(links, "fcp", Packets::kFcp);
  Nanos now = 1_s;
  bed.receive(burst, now);
  router::parse(bed.burst, bed.context);
  router::lookup(bed.burst, bed.context);
  router::LinkGroup group;
  group.members = bed.burst.forward;
  const auto step = [&] {
    bed.burst.now = now += Nanos(int64_t{100} * burst);
    group.link = group.link + 1 == links ? 0 : group.link + 1;
    benchmark::DoNotOptimize(bed.context.queues[group.link].price(bed.burst, group));
    return burst;
  };
  while (now < 1_s + 100_ms) step();  // the window of every law is full
  measure(state, step);
  if (bed.burst.dropped != 0) state.SkipWithError("price refuses the packets");
}
BENCHMARK(price)->ArgNames({"burst", "links"})->ArgsProduct({{1, 8, 32}, {1, 16, 256}});

}  // namespace
}  // namespace turnpike::bench
