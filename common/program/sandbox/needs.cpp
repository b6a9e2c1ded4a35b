// SPDX-License-Identifier: BSD-3-Clause
// memif, ring and pcap ports need nothing, nor do AF_PACKET sockets once they are open. NICs under
// vfio-pci map memory later (locked memory). A TAP interface is set down when its port closes.
// AF_XDP's driver then removes its program from the interface. NICs that keep their kernel driver
// (mlx5) are set up through sockets and RDMA devices.
#include "common/program/sandbox/needs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <variant>

namespace turnpike {
namespace {

bool is_bound_to_vfio(const std::string& pci) {
  std::error_code error;
  const auto driver =
      std::filesystem::read_symlink("/sys/bus/pci/devices/" + pci + "/driver", error);
  return !error &&
         (driver.filename() == "vfio-pci" || driver.filename().string().starts_with("uio"));
}

struct Add {
  SandboxNeeds& needs;

  void operator()(const config::AttachPci& a) const {
    needs.capabilities |= capability(CAP_IPC_LOCK);
    needs.calls.devices = true;
    if (!is_bound_to_vfio(a.address)) kernel_network();
  }
  void operator()(const config::AttachAfXdp& /*a*/) const {
    needs.capabilities |= kNetworkCapabilities | capability(CAP_BPF);
    needs.calls.bpf = needs.calls.netlink = needs.calls.ioctl_net = true;
  }
  void operator()(const config::AttachTap& /*a*/) const {
    needs.capabilities |= capability(CAP_NET_ADMIN);
    needs.calls.tap = true;
  }
  void operator()(const config::AttachMemif& a) const {
    needs.abstract_sockets |= !a.server && a.socket.starts_with('@');
  }
  void operator()(const config::AttachVdev& a) const {
    static constexpr std::array<std::string_view, 5> kModest = {"net_memif", "net_ring", "net_null",
                                                                "net_pcap", "net_af_packet"};
    const bool modest = std::ranges::any_of(
        kModest, [&](std::string_view driver) { return a.arguments.starts_with(driver); });
    needs.abstract_sockets |= a.arguments.starts_with("net_memif");
    if (modest) return;
    (*this)(config::AttachTap{});
    (*this)(config::AttachAfXdp{});
  }
  template <class Other>
  void operator()(const Other& /*a*/) const {}

 private:
  void kernel_network() const {
    needs.capabilities |= kNetworkCapabilities;
    needs.calls.netlink = needs.calls.ioctl_net = true;
  }
};

}  // namespace

void SandboxNeeds::add_linux_control() {
  capabilities |= capability(CAP_NET_ADMIN);
  calls.netlink = calls.tap = calls.ioctl_net = true;
}

SandboxNeeds needs_of_ports(std::span<const config::Attachment* const> ports) {
  SandboxNeeds needs;
  for (const config::Attachment* port : ports) std::visit(Add{needs}, *port);
  return needs;
}

}  // namespace turnpike
