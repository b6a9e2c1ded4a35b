// SPDX-License-Identifier: BSD-3-Clause
// The Turnpike header with FCP's behind it: written by a sender, checked by a receiver.
#include <array>

#include <benchmark/benchmark.h>

#include "bench/measure.h"
#include "common/protocols/fcp/header.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::bench {
namespace {

constexpr wire::Header kData{.protocol = fcp::kProtocolId,
                             .length = wire::header_length(fcp::kHeaderSize, 0),
                             .flow = 7,
                             .timestamp = 15'625'000};
constexpr fcp::Header kCongestion{.rtt_ns = 20'000'000, .balance = 1e-9F};
using Bytes = std::array<uint8_t, wire::header_length(fcp::kHeaderSize, 0)>;

void encode(benchmark::State& state) {
  Bytes bytes{};
  wire::Header h = kData;
  measure(state, [&] {
    ++h.sequence;
    benchmark::DoNotOptimize(wire::encode(h, bytes.data()));
    fcp::store(kCongestion, bytes.data() + wire::kHeaderSize);
    benchmark::ClobberMemory();
    return 1U;
  });
}
BENCHMARK(encode)->Name("header/encode");

void decode(benchmark::State& state) {
  Bytes bytes{};
  wire::encode(kData, bytes.data());
  fcp::store(kCongestion, bytes.data() + wire::kHeaderSize);
  measure(state, [&] {
    benchmark::ClobberMemory();
    wire::Header h;
    benchmark::DoNotOptimize(wire::decode(bytes, h));
    benchmark::DoNotOptimize(h);
    benchmark::DoNotOptimize(fcp::credible(fcp::load(bytes.data() + wire::kHeaderSize)));
    return 1U;
  });
}
BENCHMARK(decode)->Name("header/decode");

}  // namespace
}  // namespace turnpike::bench
