// SPDX-License-Identifier: BSD-3-Clause
// Changes routes of IPv4 in batches while a router's worker forwards packets that arrive at a
// constant rate. Prints the rate of changes, the packets lost, and the residence of packets, from
// arrival to departure, in turns of quiet and of changes, so that other load on the machine meets
// both. Ports hold as many packets as a NIC's ring and lose those beyond it. With a rate of changes
// above 0 it ends with exit code 1 if a packet was lost, the rate was not reached, or the 99th
// percentile of residence more than doubled.
//
//     bench-forwarding-deltas [ROUTES [CHANGES PER BATCH [SECONDS [CHANGES/S [PACKETS/S]]]]]
//     default: 1000000 1000 10 0 500000; 0 changes/s: as fast as possible
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/refill_port.h"
#include "bench/route_changes.h"
#include "bench/stage_bed.h"
#include "common/dpdk/eal.h"
#include "common/dpdk/pool.h"
#include "common/metrics/histogram.h"
#include "common/time/clock.h"
#include "common/wire/frame_builder.h"
#include "router/router.h"

namespace {

using namespace turnpike;
using namespace turnpike::bench;

constexpr size_t kRing = 4096;      // packets that a port holds
constexpr size_t kBuffers = 32767;  // of the port and the queues
constexpr size_t kFronts = 1 << 14;
constexpr size_t kStampAt = 96;  // B into the frame, in its payload
constexpr uint16_t kDatagram = 114;

/// The counts of all ports of the bed. Used by the worker's thread.
struct Residence {
  explicit Residence(const TscClock& from) : clock(from) {}

  const TscClock& clock;
  std::atomic<unsigned> phase{0};  // 0: quiet, 1: changes
  std::array<metrics::Histogram, 2> times;
  uint64_t arrived = 0, departed = 0, lost = 0;
};

/// The arrival of a packet, in its payload.
struct Stamp {
  int64_t at = 0;  // ns
  uint64_t phase = 0;
};

/// Receives packets at a constant rate, and sends to nowhere.
class TimedPort final : public QueuePair {
 public:
  /// `interval`: between packets, 0: none arrive.
  TimedPort(Residence& residence, BufferStack& buffers, std::vector<Front> fronts, Nanos interval)
      : residence_(residence), buffers_(buffers), fronts_(std::move(fronts)), interval_(interval) {}

  uint16_t rx(Nanos now, std::span<rte_mbuf*> out) override {
    if (interval_ == Nanos(0)) return 0;
    if (next_ == Nanos(0)) next_ = now;
    const Nanos oldest = now - interval_ * kRing;
    for (; next_ < oldest; next_ += interval_) ++residence_.lost;
    uint16_t n = 0;
    for (; n < out.size() && next_ <= now; next_ += interval_, ++n) {
      buffers_.take(out.subspan(n, 1));
      const Front& front = fronts_[at_++ % fronts_.size()];
      auto* frame = rte_pktmbuf_mtod(out[n], uint8_t*);
      std::memcpy(frame, front.bytes.data(), Front::kSize);
      const Stamp stamp{.at = next_.count(),
                        .phase = residence_.phase.load(std::memory_order_relaxed)};
      std::memcpy(frame + kStampAt, &stamp, sizeof stamp);
      out[n]->data_len = front.length;
      out[n]->pkt_len = front.length;
    }
    residence_.arrived += n;
    return n;
  }
  uint16_t tx(Nanos, std::span<rte_mbuf*> burst) override {
    const Nanos now = residence_.clock.now();
    for (const rte_mbuf* m : burst) {
      Stamp stamp;
      std::memcpy(&stamp, rte_pktmbuf_mtod(m, const uint8_t*) + kStampAt, sizeof stamp);
      residence_.times[stamp.phase & 1].record(
          static_cast<uint64_t>(std::max<int64_t>(now.count() - stamp.at, 0)));
    }
    residence_.departed += burst.size();
    buffers_.give(burst);
    return static_cast<uint16_t>(burst.size());
  }

 private:
  Residence& residence_;
  BufferStack& buffers_;
  std::vector<Front> fronts_;
  size_t at_ = 0;
  Nanos interval_, next_{0};  // arrival of the next packet
};

/// Of addresses that no router forwards to (RFC 1122 section 3.2.1.3, RFC 3927), and of those of
/// the bed's own links.
bool excluded(uint32_t address, const config::Topology& topology) {
  return address >> 24 == 127 || address >> 16 == 0xa9fe ||
         std::ranges::any_of(topology.links, [&](const config::Link& link) {
           return config::contains(config::network(link.ends[0].ipv4), address);
         });
}

/// Packets to random addresses below the routes.
std::vector<Front> fronts_to(const std::vector<config::Ipv4Prefix>& routes,
                             const config::Topology& topology, size_t l, std::mt19937_64& random) {
  const config::Link& link = topology.links[l];
  std::vector<Front> fronts(kFronts);
  for (Front& front : fronts) {
    uint32_t to = 127U << 24;
    while (excluded(to, topology)) to = routes[random() % routes.size()].address | 1;
    wire::FrameSpec spec;
    spec.source_mac = link.ends[1].mac;
    spec.destination_mac = link.ends[0].mac;
    spec.addresses = wire::Ipv4Pair{link.ends[1].ipv4.address, to};
    do spec.source_port = static_cast<uint16_t>(1024 + random() % 60'000);
    while (spec.source_port == topology.run.udp_port);  // is no congestion header
    spec.destination_port = 9;
    const auto frame = wire::build_frame(spec, {}, kDatagram);
    front.length = static_cast<uint16_t>(frame.size());
    std::copy_n(frame.begin(), std::min(frame.size(), Front::kSize), front.bytes.begin());
  }
  return fronts;
}

void run_worker(router::Worker& worker, const TscClock& clock, const std::atomic<bool>& end) {
  worker.online();
  while (!end.load(std::memory_order_relaxed)) {
    worker.poll(clock.now());
    worker.quiescent();
  }
  worker.stop_receiving();
  for (int i = 0; i < 1000; ++i) worker.poll(clock.now());
  worker.discard();
  worker.offline();
}

void sleep_until(uint64_t begin, double seconds) {
  while (seconds_since(begin) < seconds) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

struct Rates {
  size_t changes = 0;               // a batch
  double per_second = 0;            // changes; 0: as many as possible
  double seconds = 0, turn = 0.25;  // of the measurement, and of a turn
};
struct Written {
  size_t changes = 0;
  double seconds = 0, cpu = 0;
};

Written alternate(Writer& writer, Residence& residence, const Rates& rates) {
  Written w;
  for (const uint64_t start = rte_rdtsc(); seconds_since(start) < rates.seconds;) {
    residence.phase = 0;
    sleep_until(rte_rdtsc(), rates.turn);
    residence.phase = 1;
    const uint64_t turn = rte_rdtsc();
    const double cpu = cpu_seconds();
    for (size_t done = 0; seconds_since(turn) < rates.turn; w.changes += rates.changes) {
      writer.batch(rates.changes);
      done += rates.changes;
      if (rates.per_second > 0) sleep_until(turn, static_cast<double>(done) / rates.per_second);
    }
    w.seconds += seconds_since(turn);
    w.cpu += cpu_seconds() - cpu;
  }
  return w;
}

void print(const char* name, const metrics::Histogram& h) {
  std::printf("residence, %s: %lu packets, ns: half %lu, 99 %% %lu, 99.9 %% %lu\n", name,
              static_cast<unsigned long>(h.count()), h.quantile(0.5), h.quantile(0.99),
              h.quantile(0.999));
}

int measure(size_t count, const Rates& rates, double packets) {
  std::mt19937_64 random(1);
  const auto routes = internet(count, random);
  config::Topology topology = star(kLinks, "none");
  topology.routers[0].fib = {.ipv4 = static_cast<uint32_t>(count + 1000), .ipv6 = 1000};
  auto pool = Pool::create("bench", {.mbufs = kBuffers});
  if (!pool) return std::fprintf(stderr, "%s\n", pool.error().c_str()), 1;
  const TscClock clock(rte_get_tsc_hz(), TscClock::ticks());
  Residence residence(clock);
  BufferStack buffers(pool->get(), kBuffers);
  std::vector<TimedPort> ports;
  ports.reserve(kLinks);
  std::vector<std::vector<QueuePair*>> queues(kLinks);
  for (size_t l = 0; l < kLinks; ++l) {
    const Nanos interval(l == 0 ? static_cast<int64_t>(1e9 / packets) : 0);
    ports.emplace_back(residence, buffers, fronts_to(routes, topology, l, random), interval);
    queues[l].push_back(&ports[l]);
  }
  rte_mempool* const mempool = pool->get();
  auto router = router::Router::make(topology, 0, queues, {&mempool, 1}, {});
  if (!router) return std::fprintf(stderr, "%s\n", router.error().c_str()), 1;
  router::RouteTable& table = *(*router)->routes();
  load(table, routes, rates.changes, random);

  std::atomic<bool> end{false};
  std::thread thread([&] { run_worker((*router)->worker(0), clock, end); });
  Writer writer(table, routes);
  const Written w = alternate(writer, residence, rates);
  end = true;
  thread.join();

  const double rate = static_cast<double>(w.changes) / w.seconds;
  std::printf("changed %zu routes: %.0f a second, %.0f a second on its CPU\n", w.changes, rate,
              static_cast<double>(w.changes) / w.cpu);
  print("quiet", residence.times[0]);
  print("changes", residence.times[1]);
  const uint64_t dropped = residence.arrived - residence.departed;
  const auto quiet = static_cast<double>(residence.times[0].quantile(0.99));
  const auto busy = static_cast<double>(residence.times[1].quantile(0.99));
  std::printf("packets lost at the port %lu, dropped by the router %lu, 99 %% %.2f times quiet\n",
              static_cast<unsigned long>(residence.lost), static_cast<unsigned long>(dropped),
              busy / quiet);
  const router::Snapshot snapshot = (*router)->snapshot();
  for (size_t r = 0; r < snapshot.drops.size(); ++r)
    if (snapshot.drops[r] > 0)
      std::printf("dropped, %s: %lu\n",
                  std::string(name_of(static_cast<router::DropReason>(r))).c_str(),
                  static_cast<unsigned long>(snapshot.drops[r]));
  const bool met =
      residence.lost + dropped == 0 && rate >= rates.per_second * 0.99 && busy <= 2 * quiet;
  return rates.per_second == 0 || met ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto eal = Eal::start({.program = "bench", .memory_mb = 512});
  if (!eal) {
    std::fprintf(stderr, "%s\n", eal.error().c_str());
    return 1;
  }
  return measure(static_cast<size_t>(number<double>(argc, argv, 1, 1e6)),
                 {.changes = static_cast<size_t>(number<double>(argc, argv, 2, 1000)),
                  .per_second = number<double>(argc, argv, 4, 0),
                  .seconds = number<double>(argc, argv, 3, 10)},
                 number<double>(argc, argv, 5, 500'000));
}
