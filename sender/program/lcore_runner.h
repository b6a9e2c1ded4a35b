// SPDX-License-Identifier: BSD-3-Clause
// Runs the hosts of one lcore: their ports, their sender, and the loop that polls it on the TSC.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rte_ring.h>
#include <tl/expected.hpp>

#include "common/dpdk/pool.h"
#include "common/program/idle_sleeper.h"
#include "common/program/stalls.h"
#include "common/time/clock.h"
#include "sender/program/ports.h"
#include "sender/sender.h"

namespace turnpike::sender {

/// Passes outcomes from an lcore to the control thread.
class OutcomeRing final : public OutcomeSink {
 public:
  static constexpr unsigned kRoom = 1U << 16;

  static tl::expected<std::unique_ptr<OutcomeRing>, std::string> make();
  ~OutcomeRing() override { rte_ring_free(ring_); }
  OutcomeRing(const OutcomeRing&) = delete;
  OutcomeRing& operator=(const OutcomeRing&) = delete;

  void flow_ended(const FlowOutcome& outcome) override;
  /// For the control thread. False: the ring is empty.
  bool take(FlowOutcome& out);
  /// Number of outcomes lost because the ring was full.
  [[nodiscard]] uint64_t missed() const { return missed_.read(); }

 private:
  explicit OutcomeRing(rte_ring* ring) : ring_(ring) {}
  rte_ring* ring_;
  metrics::Counter missed_;
};

/// Measures the share of an lcore's time in polls that did work. The lcore calls polled(); any
/// thread reads share().
class alignas(64) Busyness {
 public:
  /// Call before each poll with its time and with Sender::moved() of the previous poll.
  void polled(Nanos now, bool moved) {
    const auto took = static_cast<uint64_t>((now - std::exchange(last_, now)).count());
    all_.add(took);
    if (moved) busy_.add(took);
  }
  [[nodiscard]] double share() const {
    return all_.read() == 0 ? 0
                            : static_cast<double>(busy_.read()) / static_cast<double>(all_.read());
  }

 private:
  Nanos last_{0};
  metrics::Counter busy_, all_;
};

/// Commands of the control thread to all lcores.
struct Command {
  std::atomic<bool> stop{false};   // end the run: close open flows
  std::atomic<bool> leave{false};  // do not wait for flows to close
};

class LcoreRunner {
 public:
  ~LcoreRunner();

  static constexpr Nanos kDrain = 2_s;  // for flows to close at the end

  /// Opens the hosts' ports and makes their sender, for the worker of that index. `hosts`: indices
  /// into Topology::hosts. The error names the host.
  static tl::expected<std::unique_ptr<LcoreRunner>, std::string> make(
      const config::Topology& topology, std::vector<uint32_t> hosts, unsigned worker, uint64_t seed,
      const SecretKey& secret);

  /// Polls until `command` stops it, then until all flows are closed, kDrain has passed, or
  /// `command` makes it leave. Sleeps within `limits` while it has no work.
  void play(const TscClock& clock, const Command& command, SleepLimits limits);

  /// Reports from the control thread that a port's link is up again: see Sender::link_restored().
  void link_restored() { restored_.fetch_add(1, std::memory_order_relaxed); }

  /// Closes sender and ports. The error says how many buffers did not return to their pools.
  tl::expected<void, std::string> close();

  [[nodiscard]] Sender& sender() { return *sender_; }
  [[nodiscard]] OutcomeRing& outcomes() { return *outcomes_; }
  [[nodiscard]] std::span<const std::unique_ptr<OpenPort>> ports() const { return ports_; }
  [[nodiscard]] std::span<const uint32_t> hosts() const { return hosts_; }
  [[nodiscard]] const Stalls& stalls() const { return stalls_; }
  [[nodiscard]] const Busyness& busyness() const { return busyness_; }
  /// One line for every port on another NUMA node than the worker; empty: there is none.
  [[nodiscard]] const std::string& remote_text() const { return remote_; }

 private:
  LcoreRunner(Pool pool, std::vector<uint32_t> hosts)
      : pool_(std::move(pool)), hosts_(std::move(hosts)) {}
  /// Makes the streams' own pool if these hosts send any.
  tl::expected<void, std::string> make_stream_pool(const config::Topology& topology, int socket);

  Pool pool_;
  std::optional<Pool> stream_pool_;
  std::vector<uint32_t> hosts_;
  std::string remote_;
  std::vector<std::unique_ptr<OpenPort>> ports_;
  std::unique_ptr<OutcomeRing> outcomes_;
  std::unique_ptr<Sender> sender_;
  std::atomic<unsigned> restored_{0};  // the control thread writes
  Stalls stalls_;
  Busyness busyness_;
};

/// EAL memory in MB for runners of these hosts.
unsigned memory_mb(const config::Topology& topology,
                   std::span<const std::vector<uint32_t>> hosts_of_runners);

}  // namespace turnpike::sender
