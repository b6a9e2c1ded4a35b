// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/attachment.h"

namespace turnpike {
namespace {

struct ToDevice {
  unsigned number, queues;
  const config::Interface& own;
  const config::Interface& peer;
  using Result = tl::expected<Device, std::string>;

  Result operator()(const std::monostate&) const {
    return tl::unexpected(std::string("nothing is attached there"));
  }
  Result operator()(const config::AttachRing&) const {
    return tl::unexpected(
        std::string("the link is a ring within one process, which only the lab plays"));
  }
  Result operator()(const config::AttachPci& a) const { return pci_device(a.address); }
  Result operator()(const config::AttachMemif& a) const {
    return memif_device(number,
                        {.socket = a.socket, .id = a.id, .server = a.server, .mac = own.mac});
  }
  Result operator()(const config::AttachAfPacket& a) const {
    return af_packet_device(number, a.interface, queues);
  }
  Result operator()(const config::AttachAfXdp& a) const {
    return af_xdp_device(number, a.interface, queues);
  }
  Result operator()(const config::AttachTap& a) const {
    return tap_device(number, a.interface, peer.mac);
  }
  Result operator()(const config::AttachPcap& a) const {
    return pcap_device(number, a.rx_file, a.tx_file, a.repeat, queues);
  }
  Result operator()(const config::AttachVdev& a) const { return other_device(a.arguments); }
};

}  // namespace

tl::expected<Device, std::string> device_at(const config::Link& link, size_t end, unsigned number,
                                            unsigned queues) {
  const ToDevice to_device{number, queues, link.ends[end], link.ends[1 - end]};
  auto device = std::visit(to_device, link.ends[end].attachment);
  if (!device)
    return tl::unexpected("link " + link.name + ", end " + link.ends[end].node + ": " +
                          device.error());
  return device;
}

bool multiqueue(const config::Attachment& attachment) {
  return std::holds_alternative<config::AttachPci>(attachment) ||
         std::holds_alternative<config::AttachAfPacket>(attachment);
}

}  // namespace turnpike
