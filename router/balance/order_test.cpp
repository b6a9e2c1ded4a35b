// SPDX-License-Identifier: BSD-3-Clause
// No flow is reordered while buckets move between lcores, whatever waits where; and each of the
// waits is needed.
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "common/dpdk/rss_steering.h"
#include "common/units/instrumented.h"
#include "common/wire/bytes.h"
#include "tests/support/eal.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

constexpr unsigned kLcores = 3;
constexpr uint16_t kSceneBuckets = 16;
constexpr uint32_t kFlows = 48;
constexpr size_t kRxDescriptors = 64, kTxDescriptors = 64;
constexpr Nanos kSendTime = 8_us;  // of a packet at the line-rate port

/// The part of a move that is left out.
enum class Fault { kNone, kNoParking, kNoTransmitTime, kSlowNic };

/// A NIC that spreads packets by their hash. A packet is under way to the receive ring of its queue
/// for a random time after the table has chosen the queue; packets of one queue keep their order.
class Spreader {
 public:
  Spreader(RssSteering& steering, Nanos most_under_way)
      : most_(most_under_way), number_(steering.add_port(kSceneBuckets, kLcores)) {
    for (uint16_t b = 0; b < kSceneBuckets; ++b) table[b] = static_cast<uint16_t>(b % kLcores);
    for (uint16_t q = 0; q < kLcores; ++q) queues_.emplace_back(*this, steering, q);
  }
  QueuePair& queue(unsigned q) { return queues_[q]; }
  void arrive(rte_mbuf* m, uint32_t hash, Nanos now, std::mt19937_64& random) {
    m->hash.rss = hash;
    m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
    Queue& q = queues_[table[hash % kSceneBuckets]];
    const Nanos there =
        now + Nanos(static_cast<int64_t>(random() % static_cast<uint64_t>(most_.count())));
    q.last = std::max(q.last, there);
    q.under_way.emplace_back(m, q.last);
  }
  std::array<uint16_t, kSceneBuckets> table;
  uint64_t missed = 0;

 private:
  struct Queue final : QueuePair {
    Queue(Spreader& port, RssSteering& by, uint16_t q)
        : spreader(&port), steering(&by), number(q) {}
    ~Queue() override {
      for (const auto& [m, time] : under_way) rte_pktmbuf_free(m);
      for (rte_mbuf* m : ring) rte_pktmbuf_free(m);
    }
    uint16_t rx(Nanos now, std::span<rte_mbuf*> out) override {
      return steering->rx(spreader->number_, number, now, out, [&](std::span<rte_mbuf*> room) {
        for (; !under_way.empty() && under_way.front().second <= now; under_way.pop_front()) {
          if (ring.size() < kRxDescriptors) {
            ring.push_back(under_way.front().first);
          } else {
            rte_pktmbuf_free(under_way.front().first);
            ++spreader->missed;
          }
        }
        uint16_t n = 0;
        for (; n < room.size() && !ring.empty(); ring.pop_front()) room[n++] = ring.front();
        return n;
      });
    }
    uint16_t tx(Nanos, std::span<rte_mbuf*>) override { return 0; }
    Spreader* spreader;
    RssSteering* steering;
    uint16_t number;
    Nanos last{0};
    std::deque<std::pair<rte_mbuf*, Nanos>> under_way;
    std::deque<rte_mbuf*> ring;
  };
  Nanos most_;
  unsigned number_;
  std::deque<Queue> queues_;
};

/// A port that takes packets into a ring per queue and sends one packet in kSendTime, from each
/// ring in turn.
class Egress {
 public:
  Egress() {
    for (unsigned q = 0; q < kLcores; ++q) queues_.emplace_back();
  }
  QueuePair& queue(unsigned q) { return queues_[q]; }
  void send_until(Nanos now, const std::function<void(rte_mbuf*)>& sent) {
    for (; free_ <= now; free_ += kSendTime) {
      for (unsigned k = 0; k < kLcores && queues_[turn_].ring.empty(); ++k)
        turn_ = (turn_ + 1) % kLcores;
      std::deque<rte_mbuf*>& ring = queues_[turn_].ring;
      turn_ = (turn_ + 1) % kLcores;
      if (ring.empty()) continue;
      sent(ring.front());
      ring.pop_front();
    }
  }

 private:
  struct Queue final : QueuePair {
    ~Queue() override {
      for (rte_mbuf* m : ring) rte_pktmbuf_free(m);
    }
    uint16_t rx(Nanos, std::span<rte_mbuf*>) override { return 0; }
    uint16_t tx(Nanos, std::span<rte_mbuf*> burst) override {
      uint16_t n = 0;
      for (; n < burst.size() && ring.size() < kTxDescriptors; ++n) ring.push_back(burst[n]);
      return n;
    }
    std::deque<rte_mbuf*> ring;
  };
  std::deque<Queue> queues_;
  unsigned turn_ = 0;
  Nanos free_{0};
};

/// A router on three lcores that are polled at random, some of them not for long.
class Scene {
 public:
  Scene(uint64_t seed, Fault fault)
      : random_(seed),
        fault_(fault),
        spreader_(steering_, fault == Fault::kSlowNic ? RssSteering::kTableDelay * 3
                                                      : RssSteering::kTableDelay / 2) {
    std::vector<std::vector<QueuePair*>> ports(kLinks);
    for (unsigned w = 0; w < kLcores; ++w) {
      ports[kLeft].push_back(&spreader_.queue(w));
      ports[kRight].push_back(&shaped_.queue(w));
      ports[kNarrow].push_back(&direct_.queue(w));
    }
    const std::vector<rte_mempool*> pools(kLcores, testing::test_pool().get());
    RouterOptions options;
    options.workers = kLcores;
    options.slack = 200_us;
    options.steering = &steering_;
    auto made = Router::make(topology(), 0, ports, pools, options);
    if (!made) throw std::runtime_error(made.error());
    router_ = std::move(*made);
  }
  ~Scene() {
    for (unsigned w = 0; w < kLcores; ++w) router_->worker(w).discard();
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      now_ += Nanos(static_cast<int64_t>(random_() % 20'000));
      carry();
      for (uint64_t n = random_() % 5; n > 0; --n) arrive();
      control();
      for (unsigned w = 0; w < kLcores; ++w) {
        if (now_ < held_[w]) continue;
        // Once in a while an lcore is not run for up to 3 ms: then it reports a stall.
        if (random_() % 1000 == 0)
          held_[w] = now_ + Nanos(static_cast<int64_t>(random_() % 3'000'000));
        if (random_() % 3 != 0) poll(w);
      }
    }
  }
  /// Until everything has left.
  void finish() {
    for (int i = 0; i < 4000; ++i) {
      now_ += 20_us;
      carry();
      if (steering_.busy()) control();
      for (unsigned w = 0; w < kLcores; ++w) poll(w);
    }
    EXPECT_FALSE(steering_.busy());
    const Snapshot s = router_->snapshot();
    EXPECT_TRUE(s.conserved());
    EXPECT_EQ(s.held, 0U);
    EXPECT_EQ(arrived_, s.received + spreader_.missed + steering_.dropped(0));
    EXPECT_EQ(s.forwarded, left_);
    EXPECT_EQ(s.received, s.forwarded + s.dropped());
    EXPECT_GT(left_, arrived_ / 2);
  }
  [[nodiscard]] unsigned moves() const { return moves_; }
  [[nodiscard]] unsigned reordered() const { return reordered_; }

 private:
  void arrive() {
    const auto flow = static_cast<uint32_t>(random_() % kFlows);
    Frame payload(30);
    wire::store_be32(payload.data(), flow);
    wire::store_be32(payload.data() + 4, next_[flow]++);
    // Half of the flows leave by the shaped link, half at line rate.
    const Frame f =
        v4({.destination = flow % 2 == 0 ? "10.0.2.2" : "172.16.5.1"}, udp(1, 2, payload));
    spreader_.arrive(testing::make_mbuf(f), flow * 7 + 3, now_, random_);
    ++arrived_;
  }

  void control() {
    if (steering_.busy()) {
      if (written_ || !steering_.parks()) return;
      write();
      steering_.table_written(now_);
      return;
    }
    if (random_() % 50 != 0) return;
    move_ = {.from = static_cast<uint16_t>(random_() % kLcores), .rx_descriptors = kRxDescriptors};
    move_.to = static_cast<uint16_t>((move_.from + 1 + random_() % (kLcores - 1)) % kLcores);
    if (fault_ != Fault::kNoTransmitTime) {
      move_.tx_descriptors = kTxDescriptors;
      move_.tx_time = kSendTime * static_cast<int64_t>(kLcores * kTxDescriptors + 1);
    }
    for (uint16_t b = 0; b < kSceneBuckets; ++b)
      if (spreader_.table[b] == move_.from && random_() % 2 == 0) move_.buckets.push_back(b);
    if (move_.buckets.empty()) return;
    ++moves_;
    if (fault_ == Fault::kNoParking) return write();
    written_ = false;
    steering_.begin(move_);
  }
  void write() {
    for (const uint16_t b : move_.buckets) spreader_.table[b] = move_.to;
    written_ = true;
  }

  void poll(unsigned w) {
    Worker& worker = router_->worker(w);
    if (polled_[w] > Nanos(0) && now_ - polled_[w] >= 1_ms) worker.stall(polled_[w], now_);
    polled_[w] = now_;
    worker.poll(now_);
  }

  void carry() {
    const auto sent = [this](rte_mbuf* m) { leave(m); };
    shaped_.send_until(now_, sent);
    direct_.send_until(now_, sent);
  }
  void leave(rte_mbuf* m) {
    const uint8_t* payload = rte_pktmbuf_mtod_offset(m, const uint8_t*, 14 + 20 + 8);
    const uint32_t flow = wire::load_be32(payload), sequence = wire::load_be32(payload + 4);
    const auto [last, first] = last_.try_emplace(flow, sequence);
    if (!first && sequence <= last->second) ++reordered_;
    last->second = std::max(last->second, sequence);
    ++left_;
    rte_pktmbuf_free(m);
  }

  std::mt19937_64 random_;
  Fault fault_;
  RssSteering steering_;
  Spreader spreader_;
  Egress shaped_, direct_;
  std::unique_ptr<Router> router_;
  Nanos now_{1'000'000};
  std::array<Nanos, kLcores> held_{}, polled_{};
  RssSteering::Move move_;
  bool written_ = false;
  std::array<uint32_t, kFlows> next_{};
  std::map<uint32_t, uint32_t> last_;
  uint64_t arrived_ = 0, left_ = 0;
  unsigned moves_ = 0, reordered_ = 0;
};

TEST(MovedBuckets, NoFlowIsReordered) {
  constexpr uint64_t kSeeds = kInstrumented ? 2 : 60;
  unsigned moves = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Scene scene(seed, Fault::kNone);
    scene.run(10'000);
    scene.finish();
    moves += scene.moves();
    ASSERT_EQ(scene.reordered(), 0U) << "seed " << seed;
    if (HasFailure()) return;
  }
  EXPECT_GT(moves, 10 * kSeeds);
}

void reorders(Fault fault) {
  unsigned reordered = 0;
  for (uint64_t seed = 1; seed <= (kInstrumented ? 2 : 5); ++seed) {
    Scene scene(seed, fault);
    scene.run(10'000);
    scene.finish();
    reordered += scene.reordered();
  }
  EXPECT_GT(reordered, 0U);
}

TEST(MovedBuckets, WithoutParkingFlowsAreReordered) { reorders(Fault::kNoParking); }
TEST(MovedBuckets, WithoutTheTimeOfTransmitRingsFlowsAreReordered) {
  reorders(Fault::kNoTransmitTime);
}
TEST(MovedBuckets, ANicSlowerThanTheTablesDelayReorders) { reorders(Fault::kSlowNic); }

}  // namespace
}  // namespace turnpike::router::test
