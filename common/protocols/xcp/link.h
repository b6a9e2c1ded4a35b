// SPDX-License-Identifier: BSD-3-Clause
// XCP at a router's egress link: an efficiency controller and a fairness controller.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "common/protocols/link_law.h"
#include "common/protocols/shard_sums.h"
#include "common/protocols/xcp/header.h"
#include "common/protocols/xcp/params.h"
#include "common/protocols/xcp/responsiveness.h"

namespace turnpike::xcp {

/// Once per average round trip d (equations 1 to 9 of the paper):
///
///     phi = alpha d (C - y) - beta Q      h = max(0, gamma y d - |phi|)
///     xi_p = (h + max( phi, 0)) / (d sum rtt s/cwnd)      xi_n = (h + max(-phi, 0)) / (d sum s)
///
/// Every departing packet gets feedback = xi_p rtt^2 s/cwnd - xi_n rtt s, until the interval's
/// total has been handed out. Packets carry rtt s/cwnd and receive feedback/rtt (appendix A): three
/// multiplications each and no division. Q is the smallest queue that an arrival met in the last
/// propagation delay, which is d less the queue's own delay: otherwise a queue would prolong the
/// time for which it is watched. d is the average over flows, sum rtt^2 s/cwnd by sum rtt s/cwnd.
///
/// Every lcore counts its own packets and hands out its own part, proportional to its departures in
/// the last interval; the link's owner adds up and divides.
class Link final : public LinkLaw {
 public:
  Link(const ParamValues& params, unsigned shards);

  bool take_settings(LinkLaw& made, std::span<const uint16_t> groups) override;
  uint64_t arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override;
  void depart(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
              Nanos now) override;
  Nanos update(const LinkState& link, Nanos now) override;
  size_t gauges(std::span<Gauge> out) const override;

 private:
  struct Departed {
    double before = 0, since = 0;  // B, up to the last update, and in the interval before it
  };
  // Y, A and B of the paper's pseudo-code; B in s ns.
  enum Field : size_t { kBytes, kFlow, kFlowRtt, kFields };

  /// An lcore's part of the interval's feedback, B/s; the owner writes.
  struct alignas(64) Given {
    std::atomic<double> up{0}, down{0};
  };
  /// An lcore's state; only this lcore writes it.
  struct alignas(64) Part {
    std::atomic<double> least_queue{0};  // B, of the watch in `seen`
    std::atomic<uint64_t> seen{0};
    std::atomic<double> departed{0};  // B, since the start
    // Read by this lcore alone.
    uint64_t interval = 0;
    double up = 0, down = 0;            // B/s left to hand out
    double xi_up = 0, xi_down = 0;      // 0 once all is handed out
    ResponsivenessTest responsiveness;  // of the flows that leave by this lcore
  };

  void begin(unsigned index, uint64_t interval);
  void end_watch(const LinkState& link, Nanos now);
  void end_interval(const LinkState& link, Nanos now);
  void divide(double up, double down);
  [[nodiscard]] double shared_out() const;  // B/s, of this interval
  [[nodiscard]] float feedback(Part& part, const Header& h, double size) const;

  double alpha_, beta_, gamma_, least_interval_, most_interval_;
  std::atomic<double> average_rtt_;  // s, the law's d
  std::atomic<double> xi_up_{0}, xi_down_{0};
  std::atomic<uint64_t> interval_{0}, watch_{0};  // count up
  Nanos last_{0}, interval_ends_{0}, watch_ends_{0};
  double persistent_queue_ = 0;  // B, Q
  ShardSums<kFields> sums_;
  std::unique_ptr<Given[]> given_;
  std::unique_ptr<Part[]> parts_;
  std::vector<Departed> departed_;  // by part
  double test_every_;               // s
  bool tests_;                      // whether flows are tested for responsiveness
  Residues residues_;
};

}  // namespace turnpike::xcp
