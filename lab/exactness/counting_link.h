// SPDX-License-Identifier: BSD-3-Clause
// The production law, with a counter of packets per worker.
#pragma once

#include <array>
#include <string_view>

#include "common/protocols/fcp/link.h"

namespace turnpike::lab {

/// For at most four workers.
class CountingLink final : public LinkLaw {
 public:
  static constexpr std::array<std::string_view, 4> kWorkers{"worker0", "worker1", "worker2",
                                                            "worker3"};

  CountingLink(const ParamValues& params, unsigned shards, uint64_t seed)
      : CountingLink(std::make_unique<fcp::Link>(params, shards, seed), shards) {}

  uint64_t arrive(unsigned shard, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override {
    packets_[shard] += static_cast<double>(burst.size());
    return law_->arrive(shard, burst, link, now);
  }
  /// The law's gauges, and one per worker.
  size_t gauges(std::span<Gauge> out) const override {
    size_t n = law_->gauges(out);
    for (unsigned s = 0; s < shards_ && n < out.size(); ++s) out[n++] = {kWorkers[s], packets_[s]};
    return n;
  }

 private:
  CountingLink(std::unique_ptr<fcp::Link> law, unsigned shards)
      : LinkLaw(law->traits()), law_(std::move(law)), shards_(shards) {}

  std::unique_ptr<fcp::Link> law_;
  unsigned shards_;
  std::array<double, kWorkers.size()> packets_{};
};

}  // namespace turnpike::lab
