// SPDX-License-Identifier: BSD-3-Clause
// A small topology and ports made of memory, for tests and fuzzing.
#pragma once

#include <deque>

#include <rte_mbuf.h>

#include "common/config/topology.h"
#include "common/dpdk/queue_pair.h"
#include "common/wire/layers.h"

namespace turnpike::router::test {

/// A port in memory: receives frames from the test, and stores sent frames up to its capacity.
class MemoryPort final : public QueuePair {
 public:
  std::deque<rte_mbuf*> in;
  std::deque<rte_mbuf*> out;
  std::deque<Nanos> when;  // of each in `out`
  size_t room = SIZE_MAX;
  Nanos arrival{0};  // says that no packet arrives before

  ~MemoryPort() override;
  uint16_t rx(Nanos now, std::span<rte_mbuf*> burst) override;
  uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) override;
  [[nodiscard]] const Nanos* next_arrival() const override { return &arrival; }
};

/// Links of the test router, each with a host `.2` at the other end.
///   kLeft   10.0.1.1/24 fd00:1::1/64, line rate, MTU 9000, no law
///   kRight  10.0.2.1/24 fd00:2::1/64, shaped to 100 Mbps, buffer 100 KB, MTU 1500, FCP
///   kNarrow 10.0.3.1/24 fd00:3::1/64, line rate, MTU 1280, no law
/// Routes: 172.16.0.0/12 and fd01::/16 to the right, 172.16.5.0/24 to the narrow link.
enum LinkIndex : size_t { kLeft, kRight, kNarrow, kLinks };

config::Topology topology();

/// A gateway at this router: the core is kRight, and 172.16.0.0/12 is behind its peer, the host
/// there. Its customers are the caller's to add.
config::Gateway& add_gateway(config::Topology& t);

wire::Mac router_mac(size_t link);
wire::Mac host_mac(size_t link);

}  // namespace turnpike::router::test
