// SPDX-License-Identifier: BSD-3-Clause
// Ports on packet(7) sockets, which get IP fragments as they are.
#include <cstring>

#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/dpdk/device.h"

namespace turnpike {

Device af_packet_device(unsigned number, const std::string& interface, unsigned queues) {
  const std::string name = "net_af_packet" + std::to_string(number);
  return {.name = name,
          .arguments = name + ",iface=" + interface + ",qpairs=" + std::to_string(queues),
          .fix = "the interface must exist (ip link show " + interface +
                 ") and the process have CAP_NET_RAW: run as root",
          .interface = interface};
}

}  // namespace turnpike

/// Replaces libc's function for all callers in the process. DPDK's driver joins its sockets to a
/// fanout group that reassembles IPv4 datagrams (PACKET_FANOUT_FLAG_DEFRAG), also with one queue:
/// the router would get them cut to a buffer, and never see fragments whose others are lost. No
/// argument of the driver leaves the flag out.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
extern "C" int setsockopt(int socket, int level, int name, const void* value,
                          socklen_t size) noexcept {
  int fanout = 0;
  if (level == SOL_PACKET && name == PACKET_FANOUT && size == sizeof fanout) {
    std::memcpy(&fanout, value, sizeof fanout);
    fanout &= ~(PACKET_FANOUT_FLAG_DEFRAG << 16);
    value = &fanout;
  }
  return static_cast<int>(syscall(SYS_setsockopt, socket, level, name, value, size));
}
