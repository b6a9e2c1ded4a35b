// SPDX-License-Identifier: BSD-3-Clause
// From a host's attachment in the topology file to a port, with the link's length in front of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/dpdk/delay_line.h"
#include "common/dpdk/port.h"

namespace turnpike::sender {

/// PCI addresses among the attachments of these hosts, for EAL.
std::vector<std::string> pci_addresses(const config::Topology& topology,
                                       const std::vector<uint32_t>& hosts);

/// A host's port, and the emulated wire before it where the link has one. Both directions of the
/// delay are the host's to emulate, unless another sender's host is at the other end: routers and
/// kernels do nothing of the kind.
class Plugged {
 public:
  /// The host's device, whose socket() says where pools are to be; configure() comes next, once.
  static tl::expected<std::unique_ptr<Plugged>, std::string> attach(
      const config::Topology& topology, uint32_t host);
  /// `pool` is for what arrives and has `pool_size` buffers.
  tl::expected<void, std::string> configure(const config::Topology& topology, rte_mempool* pool,
                                            size_t pool_size);

  [[nodiscard]] QueuePair& queue() {
    return delay_line_ ? static_cast<QueuePair&>(*delay_line_) : port_.queue(0);
  }
  [[nodiscard]] Port& port() { return port_; }
  /// Buffers, at most, that the device's driver does not give back.
  [[nodiscard]] unsigned kept() const { return kept_; }
  /// Packets that the wire or the device lost for want of room.
  [[nodiscard]] uint64_t overflowed() { return delay_line_ ? delay_line_->overflowed() : 0; }

 private:
  Plugged(Port port, uint32_t host, unsigned kept)
      : port_(std::move(port)), host_(host), kept_(kept) {}
  Port port_;
  uint32_t host_;
  unsigned kept_;
  std::unique_ptr<DelayLine> delay_line_;
};

}  // namespace turnpike::sender
