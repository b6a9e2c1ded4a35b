// SPDX-License-Identifier: BSD-3-Clause
// Prints as JSON the facts that figures of a benchmark depend on: those of the machine, and those
// that only a compiled program knows: the counter that cycles are counted in, the library, the
// compiler, the instructions it may use everywhere, and the size of the state that one lcore has of
// one link.
#include <cstdio>
#include <iostream>

#include <nlohmann/json.hpp>
#include <rte_cycles.h>
#include <rte_version.h>

#include "common/dpdk/eal.h"
#include "common/program/platform.h"
#include "common/protocols/fcp/link.h"
#include "common/protocols/fcp/reserve_link.h"
#include "router/datapath/link/egress_link.h"

namespace {

/// Sets of vector instructions that the compiler uses without asking the CPU.
std::vector<std::string> compiled_for() {
  std::vector<std::string> sets{"sse2"};
#ifdef __SSE4_2__
  sets.emplace_back("sse4.2");
#endif
#ifdef __AVX2__
  sets.emplace_back("avx2");
#endif
#ifdef __AVX512F__
  sets.emplace_back("avx512f");
#endif
  return sets;
}

}  // namespace

int main() {
  const auto eal = turnpike::Eal::start({.program = "bench-machine", .memory_mb = 64});
  if (!eal) {
    std::fprintf(stderr, "%s\n", eal.error().c_str());
    return 1;
  }
#ifdef __clang__
  constexpr const char* kCompiler = "clang " __clang_version__;
#else
  constexpr const char* kCompiler = "gcc " __VERSION__;
#endif
  nlohmann::ordered_json all = turnpike::machine_json();
  all.update({{"tsc_hz", rte_get_tsc_hz()},
              {"dpdk", rte_version()},
              {"compiler", kCompiler},
              {"compiled_for", compiled_for()},
              {"fcp_state_bytes", turnpike::fcp::ReserveLink::state_bytes()},
              {"paper_state_bytes", turnpike::fcp::Link::state_bytes()},
              {"link_state_bytes", sizeof(turnpike::router::LinkShard)}});
  std::cout << all.dump(2) << '\n';
  return 0;
}
