// SPDX-License-Identifier: BSD-3-Clause
// A gateway's lcore with 100 to 100,000 customers. One item is a customer's packet on its way into
// a tunnel, with its ACK, including the ports' parts.
#include <benchmark/benchmark.h>

#include "bench/measure.h"
#include "bench/tunnelling.h"

namespace turnpike::bench {
namespace {

void tunnels(benchmark::State& state) {
  Tunnelling t({.customers = static_cast<unsigned>(state.range(0))});
  measure(state, [&] { return t.poll(); });
}
BENCHMARK(tunnels)->Name("tunnels/customers")->Arg(100)->Arg(1000)->Arg(10'000)->Arg(100'000);

/// The same with encryption.
void sealed(benchmark::State& state) {
  Tunnelling t({.customers = static_cast<unsigned>(state.range(0)), .sealed = true});
  measure(state, [&] { return t.poll(); });
}
BENCHMARK(sealed)->Name("tunnels/sealed")->Arg(100)->Arg(1000);

/// Two lcores, which receive packets of their own customers, or of each other's.
void own(benchmark::State& state) {
  Tunnelling t({.customers = static_cast<unsigned>(state.range(0)), .lcores = 2});
  measure(state, [&] { return t.poll(); });
}
BENCHMARK(own)->Name("tunnels/own")->Arg(1000);
void handed(benchmark::State& state) {
  Tunnelling t({.customers = static_cast<unsigned>(state.range(0)), .lcores = 2, .handed = true});
  measure(state, [&] { return t.poll(); });
}
BENCHMARK(handed)->Name("tunnels/handed")->Arg(1000);

}  // namespace
}  // namespace turnpike::bench
