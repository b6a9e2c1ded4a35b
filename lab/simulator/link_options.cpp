// SPDX-License-Identifier: BSD-3-Clause
#include "lab/simulator/link_options.h"

#include <algorithm>

namespace turnpike::lab {
namespace {

constexpr uint32_t kFirstStream = 1U << 16;  // of random numbers; those before are the traffic's

}  // namespace

bool is_router(const config::Topology& t, const std::string& node) {
  return std::ranges::find(t.routers, node, &config::Router::name) != t.routers.end();
}

SimLinkOptions link_options(const config::Topology& t, size_t link, size_t direction,
                            uint64_t seed) {
  const config::Direction& d = t.links[link].directions[direction];
  const bool shaped =
      d.drain == config::Drain::kShaped && is_router(t, t.links[link].ends[direction].node);
  return {.rate = shaped ? 0 : bytes_per_second(d.rate),
          .delay = d.delay,
          .jitter = d.jitter,
          .loss = d.loss,
          .reorder = d.reorder,
          .overhead = static_cast<uint32_t>(d.overhead.count()),
          .seed = seed,
          .stream = kFirstStream + static_cast<uint32_t>(2 * link + direction)};
}

}  // namespace turnpike::lab
