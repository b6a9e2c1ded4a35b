// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/device.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <rte_kvargs.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/dpdk/dpdk_log.h"

namespace turnpike {

namespace {

std::string ether_text(const std::array<uint8_t, 6>& mac) {
  std::array<char, RTE_ETHER_ADDR_FMT_SIZE> text{};
  const auto address = std::bit_cast<rte_ether_addr>(mac);
  rte_ether_format_addr(text.data(), text.size(), &address);
  return text.data();
}

std::string name_of(const char* driver, unsigned number) {
  return "net_" + std::string(driver) + std::to_string(number);
}

/// While it exists, new files of the process are for its user alone.
class PrivateFiles {
 public:
  PrivateFiles() : before_(umask(S_IXUSR | S_IRWXG | S_IRWXO)) {}
  ~PrivateFiles() { umask(before_); }
  PrivateFiles(const PrivateFiles&) = delete;
  PrivateFiles& operator=(const PrivateFiles&) = delete;

 private:
  mode_t before_;
};

/// A server that died without cleaning up leaves its socket's file, which makes bind() fail. Leaves
/// a file alone if a process listens on it.
void remove_stale_socket(const std::string& path) {
  struct stat status {};
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path || lstat(path.c_str(), &status) != 0 ||
      !S_ISSOCK(status.st_mode)) {
    return;
  }
  const int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (probe < 0) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const bool dead =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  close(probe);
  if (dead) unlink(path.c_str());
}

/// The socket file that these arguments make the memif driver create; empty: none. Defaults are the
/// driver's.
std::string memif_server_socket(const std::string& name, const char* arguments) {
  if (!name.starts_with("net_memif")) return {};
  const std::unique_ptr<rte_kvargs, decltype(&rte_kvargs_free)> parsed(
      rte_kvargs_parse(arguments, nullptr), rte_kvargs_free);
  if (parsed == nullptr) return {};
  const auto value = [&](const char* key) {
    std::string found;
    const auto keep = [](const char*, const char* text, void* out) {
      *static_cast<std::string*>(out) = text == nullptr ? "" : text;
      return 0;
    };
    rte_kvargs_process(parsed.get(), key, keep, &found);
    return found;
  };
  return value("role") == "server" && value("socket-abstract") == "no" ? value("socket") : "";
}

/// The arguments behind the name in name,key=value,...
const char* arguments_of(const Device& d) {
  const char* const rest = d.arguments.c_str() + d.name.size();
  return *rest == ',' ? rest + 1 : rest;
}

}  // namespace

Device memif_device(unsigned number, const MemifOptions& options) {
  const bool abstract = options.socket.starts_with('@');
  Device d{.name = name_of("memif", number), .arguments = {}, .fix = {}};
  d.arguments = d.name + ",role=" + (options.server ? "server" : "client") +
                ",id=" + std::to_string(options.id) +
                ",socket=" + options.socket.substr(abstract ? 1 : 0) +
                ",socket-abstract=" + (abstract ? "yes" : "no") +
                ",mac=" + ether_text(options.mac) + ",rsize=" + std::to_string(options.log2_ring);
  d.fix = abstract
              ? "another process may serve this socket: ss -xlp | grep " + options.socket
              : "the socket's folder must exist and be writable, and no other process serve it";
  if (options.server && !abstract) d.stale = options.socket;
  d.follows = !options.server;
  return d;
}

Device af_xdp_device(unsigned number, const std::string& interface, unsigned queues) {
  // Buffers that the kernel owns when the socket closes: in its fill ring and its completion ring.
  constexpr unsigned kRings = 2 * 2048;
  const std::string name = name_of("af_xdp", number);
  return {.name = name,
          .arguments =
              name + ",iface=" + interface + ",start_queue=0,queue_count=" + std::to_string(queues),
          .fix = "the interface must exist with that many queues (ethtool -L " + interface +
                 " combined " + std::to_string(queues) +
                 ") and the process have CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF: run as root",
          .keeps = kRings * queues,
          .interface = interface};
}

Device tap_device(unsigned number, const std::string& interface,
                  const std::array<uint8_t, 6>& kernel_mac) {
  const std::string name = name_of("tap", number);
  return {.name = name,
          .arguments = name + ",iface=" + interface + ",mac=" + ether_text(kernel_mac),
          .fix =
              "/dev/net/tun must exist (modprobe tun) and the process have CAP_NET_ADMIN: run "
              "as root"};
}

Device pcap_device(unsigned number, const std::string& rx_file, const std::string& tx_file,
                   bool repeat, unsigned queues) {
  Device d{.name = name_of("pcap", number), .arguments = {}, .fix = {}};
  d.arguments = d.name;
  for (unsigned i = 0; i < queues; ++i) d.arguments += ",rx_pcap=" + rx_file;
  // One file per queue: two writers of one file would overwrite each other.
  for (unsigned i = 0; i < queues && !tx_file.empty(); ++i) {
    d.arguments += ",tx_pcap=" + tx_file + (i == 0 ? "" : "." + std::to_string(i));
  }
  if (repeat) d.arguments += ",infinite_rx=1";
  d.fix = rx_file +
          " must be a readable capture, and the folder of the transmit capture must be writable";
  return d;
}

Device pci_device(const std::string& address, std::optional<FlowControl> flow_control) {
  return {.name = address,
          .arguments = {},
          .fix =
              "bind it to a driver that DPDK can use, as root: modprobe vfio-pci && "
              "dpdk-devbind.py -b vfio-pci " +
              address,
          .flow_control = flow_control};
}

Device other_device(const std::string& arguments) {
  Device d{.name = arguments.substr(0, arguments.find(',')),
           .arguments = arguments,
           .fix = "see DPDK's documentation of this driver for its arguments"};
  d.stale = memif_server_socket(d.name, arguments_of(d));
  return d;
}

tl::expected<uint16_t, std::string> attach(const Device& device) {
  uint16_t port = 0;
  if (device.arguments.empty()) {
    if (rte_eth_dev_get_port_by_name(device.name.c_str(), &port) == 0) return port;
    return tl::unexpected("DPDK found no port at " + device.name + "; " + device.fix);
  }
  if (!device.stale.empty()) remove_stale_socket(device.stale);
  const CapturedLog log;
  // The driver of a memif server binds its socket now: for this user alone.
  const std::optional<PrivateFiles> own =
      device.stale.empty() ? std::nullopt : std::make_optional<PrivateFiles>();
  // rte_dev_probe() takes 127 characters, which a memif socket's path may exceed.
  if (rte_vdev_init(device.name.c_str(), arguments_of(device)) == 0 &&
      rte_eth_dev_get_port_by_name(device.name.c_str(), &port) == 0) {
    return port;
  }
  const std::string reason = log.text();
  return tl::unexpected("no device " + device.arguments + ": " +
                        (reason.empty() ? "refused by DPDK" : reason) + "; " + device.fix);
}

}  // namespace turnpike
