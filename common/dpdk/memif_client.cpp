// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/memif_client.h"

#include <cerrno>

#include <fcntl.h>
#include <rte_ethdev.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/dpdk/interrupt_thread.h"
#include "common/dpdk/memif_guard.h"

namespace turnpike {

int reconnect_memif_client(uint16_t port) {
  // Bursts that began before the link went down may still be about to call the driver.
  MemifGuard::wait_outside();
  int error = 0;
  on_interrupt_thread([port, &error] {
    rte_eth_dev_stop(port);
    error = rte_eth_dev_start(port);
  });
  return error;
}

}  // namespace turnpike

// These functions replace libc's in the whole program, as munmap() in memif_guard.cpp does: the
// driver has no option for them. Only SOCK_SEQPACKET sockets of AF_UNIX, memif's, behave
// differently.

namespace {

bool is_memif_socket(int fd) {
  int domain = 0, type = 0;
  socklen_t size = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return false;
  size = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

}  // namespace

/// Connects without blocking. A stopped server accepts no connection, and a blocking connect()
/// would stall the interrupt thread, which all memif ports need. Fails with EAGAIN instead; the
/// caller tries again.
extern "C" int connect(int fd, const sockaddr* addr, socklen_t len) {
  const int flags = is_memif_socket(fd) ? fcntl(fd, F_GETFL) : -1;
  if (flags < 0) return static_cast<int>(syscall(SYS_connect, fd, addr, len));
  fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  const auto result = static_cast<int>(syscall(SYS_connect, fd, addr, len));
  const int error = errno;
  fcntl(fd, F_SETFL, flags);
  errno = error;
  return result;
}

/// Receives without blocking. Between two of DPDK's events for a descriptor, a new connection may
/// have taken the number of one that was closed, and have nothing to read yet. A blocking recvmsg()
/// would stop the interrupt thread for ever where both ends are in this process or the neighbour
/// waits for an answer. Fails with EAGAIN instead: the driver ends the connection, and the client
/// connects again.
extern "C" ssize_t recvmsg(int fd, msghdr* message, int flags) {
  return syscall(SYS_recvmsg, fd, message, is_memif_socket(fd) ? flags | MSG_DONTWAIT : flags);
}

/// Reports success to a neighbour that has gone: the next receive finds the disconnection. After a
/// failed hello, DPDK's listener would free the connection and leave its interrupt handler
/// registered.
extern "C" ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  const bool memif = is_memif_socket(fd);
  const ssize_t sent = syscall(SYS_sendmsg, fd, message, memif ? flags | MSG_NOSIGNAL : flags);
  if (sent >= 0 || !memif || (errno != EPIPE && errno != ECONNRESET)) return sent;
  size_t whole = 0;
  for (size_t i = 0; i < message->msg_iovlen; ++i) whole += message->msg_iov[i].iov_len;
  return static_cast<ssize_t>(whole);
}
