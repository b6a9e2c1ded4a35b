// SPDX-License-Identifier: BSD-3-Clause
// Any frames, on any link, in any pieces, through a whole router: every one is accounted for,
// every buffer comes back, and no link's sums are poisoned.
//
// The input is a row of packets: one byte of control, two of length, the frame. Control: bits 0-1
// link, 2-3 segment size, 4 mend what would end most frames early (MAC, IPv4 header checksum),
// 5-7 time that passes.
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/dpdk/eal.h"
#include "common/dpdk/pool.h"
#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/router.h"
#include "router/test_topology.h"

namespace {

using namespace turnpike;
using namespace turnpike::router;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Lives as long as the process: tables of routes are too large to build for each input.
struct Bench {
  static constexpr unsigned kWorkers = 2;
  Eal eal;
  Pool pool;
  std::array<std::array<test::MemoryPort, kWorkers>, test::kLinks> ports;
  std::unique_ptr<Router> router;
  Nanos now{1'000'000'000};

  Bench(Eal e, Pool p) : eal(std::move(e)), pool(std::move(p)) {
    std::vector<std::vector<QueuePair*>> queues(test::kLinks);
    for (size_t l = 0; l < test::kLinks; ++l)
      for (auto& port : ports[l]) queues[l].push_back(&port);
    const std::vector<rte_mempool*> pools(kWorkers, pool.get());
    auto made = Router::make(test::topology(), 0, queues, pools, {.workers = kWorkers});
    require(made.has_value());
    router = std::move(*made);
  }

  void poll() {
    for (unsigned w = 0; w < kWorkers; ++w) router->worker(w).poll(now);
    require(router->snapshot().conserved());
    for (auto& link : ports) {
      for (test::MemoryPort& port : link) {
        for (rte_mbuf* m : port.out) rte_pktmbuf_free(m);
        port.out.clear();
        port.when.clear();
      }
    }
  }
};

std::unique_ptr<Bench> bench;

rte_mbuf* chain_of(std::span<const uint8_t> frame, size_t segment) {
  rte_mbuf* first = nullptr;
  do {
    rte_mbuf* m = rte_pktmbuf_alloc(bench->pool.get());
    require(m != nullptr);
    const size_t n = std::min({frame.size(), segment, size_t{rte_pktmbuf_tailroom(m)}});
    if (n > 0) std::memcpy(rte_pktmbuf_append(m, static_cast<uint16_t>(n)), frame.data(), n);
    frame = frame.subspan(n);
    if (first == nullptr) {
      first = m;
    } else {
      require(rte_pktmbuf_chain(first, m) == 0);
    }
  } while (!frame.empty());
  return first;
}

void mend(std::span<uint8_t> frame, size_t link) {
  if (frame.size() < 34) return;
  const wire::Mac mac = test::router_mac(link);
  std::ranges::copy(mac, frame.begin());
  const size_t ip = wire::load_be16(&frame[12]) == wire::kEtherTypeVlan ? 18 : 14;
  const size_t header = (frame[ip] & 15U) * 4;
  if (frame[ip] >> 4 != 4 || header < 20 || ip + header > frame.size()) return;
  wire::store_be16(&frame[ip + 10], 0);
  wire::store_be16(&frame[ip + 10], wire::checksum_of(wire::sum_words(frame.subspan(ip, header))));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  auto eal = Eal::start({.program = "packet_fuzz"});
  if (!eal) {
    std::cerr << eal.error() << '\n';
    return 1;
  }
  auto pool = Pool::create("fuzz", {.mbufs = 8191});
  require(pool.has_value());
  bench = std::make_unique<Bench>(std::move(*eal), std::move(*pool));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::array<size_t, 4> kSegments{SIZE_MAX, 16, 64, 200};
  constexpr size_t kMostPackets = 64;
  std::span<const uint8_t> rest(data, size);
  for (size_t n = 0; n < kMostPackets && rest.size() > 3; ++n) {
    const uint8_t control = rest[0];
    const size_t length = std::min<size_t>(1 + (rest[1] | rest[2] << 8) % 9100, rest.size() - 3);
    std::vector<uint8_t> frame(rest.begin() + 3, rest.begin() + 3 + static_cast<long>(length));
    rest = rest.subspan(3 + length);
    const size_t link = (control & 3U) % test::kLinks;
    if ((control & 16) != 0) mend(frame, link);
    auto& port = bench->ports[link][n % Bench::kWorkers];
    port.in.push_back(chain_of(frame, kSegments[control >> 2 & 3]));
    bench->now += Nanos(int64_t{1} << (control >> 5) * 3);
    bench->poll();
  }
  // All that was held leaves in time, and nothing is lost on the way.
  for (int i = 0; i < 1000 && bench->router->held() > 0; ++i) {
    bench->now += 2_ms;
    bench->poll();
  }
  require(bench->router->held() == 0);
  require(bench->pool.in_use() == 0);
  for (const LinkSnapshot& link : bench->router->snapshot().links)
    for (const Gauge& g : link.gauges) require(std::isfinite(g.value));
  return 0;
}
