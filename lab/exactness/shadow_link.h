// SPDX-License-Identifier: BSD-3-Clause
// The real law, and the exact one looking over its shoulder.
#pragma once

#include "common/protocols/fcp/link.h"
#include "lab/exactness/exact_link.h"

namespace turnpike::lab {

/// Packets get the real law's prices. The oracle sees the same packets at the same times, and its
/// past prices are those that were really stamped: packets pay what they were told, so what the
/// oracle would have told them is nobody's past. Its window and its d are its own. A difference is
/// thus what the real sums and the real memory of prices make of one moment, not a trajectory.
class ShadowLink final : public LinkLaw {
 public:
  ShadowLink(const ParamValues& params, uint64_t seed)
      : ShadowLink(std::make_unique<fcp::Link>(params, 1, seed), ExactPrice(params, seed)) {}

  uint64_t arrive(unsigned shard, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override;
  /// The real law's, and kWorst and kCompared.
  size_t gauges(std::span<Gauge> out) const override;

  static constexpr std::string_view kWorst = "worst_difference";  // of prices, relative
  static constexpr std::string_view kCompared = "compared";       // bursts

 private:
  ShadowLink(std::unique_ptr<fcp::Link> real, ExactPrice exact)
      : LinkLaw(real->traits()), real_(std::move(real)), exact_(std::move(exact)) {}

  std::unique_ptr<fcp::Link> real_;
  ExactPrice exact_;
  double worst_ = 0;
  uint64_t compared_ = 0;
};

}  // namespace turnpike::lab
