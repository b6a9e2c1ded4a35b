// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/kernel_interface.h"

#include <array>
#include <cstring>

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace turnpike {

KernelInterface::KernelInterface(const std::string& name) : index_(if_nametoindex(name.c_str())) {}

KernelInterface::State KernelInterface::state() const {
  std::array<char, IF_NAMESIZE> name{};
  if (index_ == 0 || if_indextoname(index_, name.data()) == nullptr) return State::kGone;
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return State::kUp;  // out of descriptors: the interface's state is unknown
  // Any socket takes the question; the sandbox of the programs allows no other kind.
  ifreq request{};
  std::memcpy(request.ifr_name, name.data(), name.size());
  const bool known = ioctl(fd, SIOCGIFFLAGS, &request) == 0;
  close(fd);
  if (!known) return State::kGone;
  const auto flags = static_cast<unsigned>(request.ifr_flags);
  return (flags & IFF_UP) != 0 && (flags & IFF_RUNNING) != 0 ? State::kUp : State::kDown;
}

}  // namespace turnpike
