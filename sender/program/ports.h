// SPDX-License-Identifier: BSD-3-Clause
// Opens the port of a host's attachment, with an emulated delay line where the link has a delay.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/dpdk/delay_line.h"
#include "common/dpdk/port.h"

namespace turnpike::sender {

/// PCI addresses in the attachments of these hosts, for EAL.
std::vector<std::string> pci_addresses(const config::Topology& topology,
                                       const std::vector<uint32_t>& hosts);

/// A host's port, and the delay line before it where the link has a delay. It delays both
/// directions, because routers and kernels emulate no delay; departures only where the other end is
/// another sender's host.
class OpenPort {
 public:
  /// Attaches the host's device; pools belong on the NUMA node of port().socket(). Call configure()
  /// next, once.
  static tl::expected<std::unique_ptr<OpenPort>, std::string> attach(
      const config::Topology& topology, uint32_t host);
  /// `pool`: for received packets, with `pool_size` buffers.
  tl::expected<void, std::string> configure(const config::Topology& topology, rte_mempool* pool,
                                            size_t pool_size);

  [[nodiscard]] QueuePair& queue() {
    return delay_line_ ? static_cast<QueuePair&>(*delay_line_) : port_.queue(0);
  }
  [[nodiscard]] Port& port() { return port_; }
  /// Upper bound of the number of buffers that the device's driver does not return.
  [[nodiscard]] unsigned kept() const { return kept_; }
  /// Number of packets that the delay line dropped because it was full.
  [[nodiscard]] uint64_t overflowed() { return delay_line_ ? delay_line_->overflowed() : 0; }

 private:
  OpenPort(Port port, uint32_t host, unsigned kept)
      : port_(std::move(port)), host_(host), kept_(kept) {}
  Port port_;
  uint32_t host_;
  unsigned kept_;
  std::unique_ptr<DelayLine> delay_line_;
};

}  // namespace turnpike::sender
