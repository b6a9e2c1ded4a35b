// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/attachment.h"

#include <algorithm>
#include <cmath>

#include <rte_build_config.h>
#include <sys/un.h>

#include "common/program/runtime_folder.h"
#include "common/units/input_file.h"

namespace turnpike {
namespace {

static_assert(config::kMaxPorts <= RTE_MAX_ETHPORTS);
// Both enumerations have the same order.
static_assert(static_cast<int>(config::FlowControl::kOn) == static_cast<int>(FlowControl::kOn) &&
              static_cast<int>(config::FlowControl::kTx) == static_cast<int>(FlowControl::kTx) &&
              static_cast<int>(config::FlowControl::kRx) == static_cast<int>(FlowControl::kRx));

/// Slots of a memif ring, as a logarithm: full packets that the faster direction carries in 50 ms,
/// the longest that a busy machine keeps a process from its CPU; fewer would lose packets then.
/// Both ends compute the same number; memif uses the client's.
unsigned log2_ring(const config::Link& link) {
  const auto& [there, back] = link.directions;
  const Bytes bytes = carried(std::max(there.rate, back.rate), 50_ms);
  const double packets = static_cast<double>(bytes.count()) / link.mtu;
  return static_cast<unsigned>(std::ceil(std::log2(std::clamp(packets, 1024.0, 4096.0))));
}

struct ToDevice {
  unsigned number, queues;
  const config::Link& link;
  const config::Interface& own;
  const config::Interface& peer;
  using Result = tl::expected<Device, std::string>;

  Result operator()(const std::monostate&) const {
    return tl::unexpected(std::string("no attachment"));
  }
  Result operator()(const config::AttachRing&) const {
    return tl::unexpected(
        std::string("the link is a ring within one process, which only the lab supports"));
  }
  Result operator()(const config::AttachPci& a) const {
    if (!a.flow_control) return pci_device(a.address);
    return pci_device(a.address, static_cast<FlowControl>(*a.flow_control));
  }
  Result operator()(const config::AttachMemif& a) const {
    const std::string path = socket_path(a.socket);
    if (path.size() >= sizeof(sockaddr_un::sun_path))
      return tl::unexpected("the path of memif's socket is longer than Linux allows, " +
                            std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " B: " + path +
                            "; set attach.memif.socket to a shorter one");
    return memif_device(number, {.socket = path,
                                 .id = a.id,
                                 .server = a.server,
                                 .mac = own.mac,
                                 .log2_ring = log2_ring(link)});
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
    // The driver would wait for a writer of a FIFO.
    if (const std::string why = why_unreadable(a.rx_file); !why.empty())
      return tl::unexpected("'" + a.rx_file + "' cannot be read: " + why);
    return pcap_device(number, a.rx_file, a.tx_file, a.repeat, queues);
  }
  Result operator()(const config::AttachVdev& a) const { return other_device(a.arguments); }
};

std::string at_end(const config::Link& link, size_t end, const std::string& why) {
  return "link " + link.name + ", end " + link.ends[end].node + ": " + why;
}

/// Packets of minimum size in the delay line of this direction.
double packets_under_way(const config::Direction& d) {
  constexpr double kSmallest = 64;  // B
  return bytes_per_second(d.rate) * to_seconds(d.delay) / kSmallest;
}

}  // namespace

tl::expected<Device, std::string> device_at(const config::Link& link, size_t end, unsigned number,
                                            unsigned queues) {
  const ToDevice to_device{number, queues, link, link.ends[end], link.ends[1 - end]};
  return std::visit(to_device, link.ends[end].attachment).map_error([&](const std::string& why) {
    return at_end(link, end, why);
  });
}

tl::expected<void, std::string> prepare_socket(const config::Link& link, size_t end) {
  const auto* memif = std::get_if<config::AttachMemif>(&link.ends[end].attachment);
  if (memif == nullptr) return {};
  return prepare_socket_folder(memif->socket).map_error([&](const std::string& why) {
    return at_end(link, end, why);
  });
}

std::unique_ptr<DelayLine> delay_line_at(QueuePair& port, const config::Link& link, size_t end,
                                         bool arrivals, size_t buffers) {
  const config::Direction& out = link.directions[end];
  const config::Direction& in = link.directions[1 - end];
  const Nanos behind = arrivals ? in.delay : Nanos(0);
  if (!link.emulate_delay || std::max(out.delay, behind) == Nanos(0)) return nullptr;
  const double packets = std::max(packets_under_way(out), packets_under_way(in));
  const auto most = static_cast<double>(buffers);
  return std::make_unique<DelayLine>(
      port, DelayLine::Options{.rx_delay = behind,
                               .tx_delay = out.delay,
                               .capacity = static_cast<uint32_t>(
                                   std::clamp(packets, std::min(1024.0, most), most))});
}

bool multiqueue(const config::Attachment& attachment) {
  return std::holds_alternative<config::AttachPci>(attachment) ||
         std::holds_alternative<config::AttachAfPacket>(attachment);
}

}  // namespace turnpike
