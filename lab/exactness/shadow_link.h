// SPDX-License-Identifier: BSD-3-Clause
// The production law, and the exact law computed beside it for comparison.
#pragma once

#include "common/protocols/fcp/link.h"
#include "lab/exactness/exact_link.h"

namespace turnpike::lab {

/// Packets get the production law's prices. The oracle sees the same packets at the same times and
/// records the prices that were really stamped, since packets pay those. Its window and its d are
/// its own. A difference therefore measures the error of the sums and of the price history at one
/// moment, not a diverging trajectory.
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
