// SPDX-License-Identifier: BSD-3-Clause
// How all micro-benchmarks measure: cycles of the time stamp counter, and instructions, per item.
#pragma once

#include <cstdint>

#include <benchmark/benchmark.h>
#include <rte_cycles.h>

#include "bench/instruction_counter.h"

namespace turnpike::bench {

/// Runs the benchmark's loop over `step`, which returns how many items it has done. Reports them,
/// their `cycles`, and their `instructions` where those are counted.
template <class Step>
void measure(benchmark::State& state, Step&& step) {
  const InstructionCounter instructions;
  uint64_t items = 0;
  const auto executed = instructions.read();
  const uint64_t begin = rte_rdtsc();
  for (auto _ : state) items += step();
  const auto cycles = static_cast<double>(rte_rdtsc() - begin);
  const auto end = instructions.read();
  const auto count = static_cast<double>(items);
  state.SetItemsProcessed(static_cast<int64_t>(items));
  state.counters["cycles"] = cycles / count;
  if (executed && end)
    state.counters["instructions"] = static_cast<double>(*end - *executed) / count;
}

}  // namespace turnpike::bench
