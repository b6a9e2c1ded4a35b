// SPDX-License-Identifier: BSD-3-Clause
// One lcore at work: its hosts' ports, their sender, and the loop that polls it on the TSC.
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

/// Outcomes on their way from an lcore to the control thread.
class OutcomeRing final : public OutcomeSink {
 public:
  static constexpr unsigned kRoom = 1U << 16;

  static tl::expected<std::unique_ptr<OutcomeRing>, std::string> make();
  ~OutcomeRing() override { rte_ring_free(ring_); }
  OutcomeRing(const OutcomeRing&) = delete;
  OutcomeRing& operator=(const OutcomeRing&) = delete;

  void flow_ended(const FlowOutcome& outcome) override;
  /// The control thread's side.
  bool take(FlowOutcome& out);
  /// Outcomes for which there was no room.
  [[nodiscard]] uint64_t missed() const { return missed_.read(); }

 private:
  explicit OutcomeRing(rte_ring* ring) : ring_(ring) {}
  rte_ring* ring_;
  metrics::Counter missed_;
};

/// How much of an lcore's time went into polls that found something to do.
class alignas(64) Busyness {
 public:
  /// To be called before each poll with its time, and what the poll before it found.
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

/// What the control thread says to all lcores.
struct Command {
  std::atomic<bool> stop{false};   // the run is over: close what is open
  std::atomic<bool> leave{false};  // and do not wait for it
};

class LcoreRunner {
 public:
  ~LcoreRunner();

  static constexpr Nanos kDrain = 2_s;  // for flows to close at the end

  /// Opens the hosts' ports and makes their sender, for that worker to play; the error names the
  /// host.
  static tl::expected<std::unique_ptr<LcoreRunner>, std::string> make(
      const config::Topology& topology, std::vector<uint32_t> hosts, unsigned worker, uint64_t seed,
      const SecretKey& secret);

  /// Polls until told to stop and then until everything is closed, or kDrain has passed. It limits
  /// while there is nothing to do.
  void play(const TscClock& clock, const Command& command, SleepLimits limits);

  /// From the control thread: a port's link is up again, see Sender::link_restored().
  void link_restored() { restored_.fetch_add(1, std::memory_order_relaxed); }

  /// Closes everything; says what is wrong if not every buffer came back.
  tl::expected<void, std::string> close();

  [[nodiscard]] Sender& sender() { return *sender_; }
  [[nodiscard]] OutcomeRing& outcomes() { return *outcomes_; }
  [[nodiscard]] std::span<const std::unique_ptr<Plugged>> ports() const { return ports_; }
  [[nodiscard]] std::span<const uint32_t> hosts() const { return hosts_; }
  [[nodiscard]] const Stalls& stalls() const { return stalls_; }
  [[nodiscard]] const Busyness& busyness() const { return busyness_; }
  /// A line for every port that is at another processor socket than the worker; empty: none is.
  [[nodiscard]] const std::string& remote_text() const { return remote_; }

 private:
  LcoreRunner(Pool pool, std::vector<uint32_t> hosts)
      : pool_(std::move(pool)), hosts_(std::move(hosts)) {}
  /// A pool of the streams' own, where these hosts send any.
  tl::expected<void, std::string> make_stream_pool(const config::Topology& topology, int socket);

  Pool pool_;
  std::optional<Pool> stream_pool_;
  std::vector<uint32_t> hosts_;
  std::string remote_;
  std::vector<std::unique_ptr<Plugged>> ports_;
  std::unique_ptr<OutcomeRing> outcomes_;
  std::unique_ptr<Sender> sender_;
  std::atomic<unsigned> restored_{0};  // the control thread writes
  Stalls stalls_;
  Busyness busyness_;
};

/// EAL memory for runners of these hosts, MB.
unsigned memory_mb(const config::Topology& topology,
                   std::span<const std::vector<uint32_t>> hosts_of_players);

}  // namespace turnpike::sender
