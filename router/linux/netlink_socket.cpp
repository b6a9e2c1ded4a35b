// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/netlink_socket.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

namespace turnpike::router {
namespace {

tl::unexpected<std::string> failed(const char* what) {
  return tl::unexpected(std::string("netlink: ") + what + ": " + std::strerror(errno));
}

void enlarge(int fd, size_t bytes) {
  const int size = static_cast<int>(std::min(bytes, size_t{1} << 30));
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) == 0) return;
  // Without the capability the kernel grants up to net.core.rmem_max; receive_buffer() says it.
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

}  // namespace

void NetlinkSocket::Close::operator()(mnl_socket* socket) const { mnl_socket_close(socket); }

NetlinkSocket::NetlinkSocket(mnl_socket* socket)
    : socket_(socket), buffer_(std::make_unique_for_overwrite<uint8_t[]>(kBatch * kMaxDatagram)) {}

std::vector<unsigned> NetlinkSocket::route_groups() {
  return {RTNLGRP_LINK,       RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_NEIGH,
          RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,  RTNLGRP_NEXTHOP};
}

tl::expected<NetlinkSocket, std::string> NetlinkSocket::open(const std::vector<unsigned>& groups,
                                                             size_t receive_buffer) {
  mnl_socket* opened = mnl_socket_open2(NETLINK_ROUTE, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (opened == nullptr) return failed("socket");
  NetlinkSocket made(opened);
  // Before it subscribes: the first messages may be many.
  if (receive_buffer > 0) enlarge(made.fd(), receive_buffer);
  if (mnl_socket_bind(opened, 0, MNL_SOCKET_AUTOPID) < 0) return failed("bind");
  int on = 1;
  // Strict checking: dumps leave out cached exceptions of routes (Linux 4.20); without it the
  // parser recognises them.
  mnl_socket_setsockopt(opened, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  // Errors without a copy of the request.
  mnl_socket_setsockopt(opened, NETLINK_CAP_ACK, &on, sizeof on);
  for (const unsigned group : groups) {
    int number = static_cast<int>(group);
    // A kernel without nexthop objects has no such group, and nothing to tell.
    if (mnl_socket_setsockopt(opened, NETLINK_ADD_MEMBERSHIP, &number, sizeof number) < 0 &&
        group != RTNLGRP_NEXTHOP) {
      return failed("subscribe");
    }
  }
  return made;
}

int NetlinkSocket::fd() const { return mnl_socket_get_fd(socket_.get()); }

size_t NetlinkSocket::receive_buffer() const {
  int size = 0;
  socklen_t length = sizeof size;
  if (getsockopt(fd(), SOL_SOCKET, SO_RCVBUF, &size, &length) < 0) return 0;
  return static_cast<size_t>(size);
}

uint64_t NetlinkSocket::dropped() const {
  std::array<uint32_t, SK_MEMINFO_VARS> info{};
  socklen_t length = sizeof info;
  if (getsockopt(fd(), SOL_SOCKET, SO_MEMINFO, info.data(), &length) < 0) return 0;
  return info[SK_MEMINFO_DROPS];
}

bool NetlinkSocket::send(const nlmsghdr& request) {
  return mnl_socket_sendto(socket_.get(), &request, request.nlmsg_len) >= 0;
}

NetlinkSocket::Read NetlinkSocket::receive(const std::function<void(const nlmsghdr&)>& handle) {
  std::array<mmsghdr, kBatch> headers{};
  std::array<iovec, kBatch> parts{};
  std::array<sockaddr_nl, kBatch> senders{};
  for (size_t i = 0; i < kBatch; ++i) {
    parts[i] = {.iov_base = buffer_.get() + i * kMaxDatagram, .iov_len = kMaxDatagram};
    headers[i].msg_hdr.msg_iov = &parts[i];
    headers[i].msg_hdr.msg_iovlen = 1;
    headers[i].msg_hdr.msg_name = &senders[i];
    headers[i].msg_hdr.msg_namelen = sizeof senders[i];
  }
  int received = -1;
  do {
    received = recvmmsg(fd(), headers.data(), kBatch, MSG_DONTWAIT, nullptr);
  } while (received < 0 && errno == EINTR);
  if (received < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Read::kEmpty;
    return errno == ENOBUFS ? Read::kOverrun : Read::kFailed;
  }
  bool truncated = false;
  for (size_t i = 0; i < static_cast<size_t>(received); ++i) {
    truncated |= (headers[i].msg_hdr.msg_flags & MSG_TRUNC) != 0;
    if (senders[i].nl_pid != 0) continue;  // another process; the kernel's is 0
    int left = static_cast<int>(headers[i].msg_len);
    const auto* m = static_cast<const nlmsghdr*>(parts[i].iov_base);
    for (; mnl_nlmsg_ok(m, left); m = mnl_nlmsg_next(m, &left)) handle(*m);
  }
  return truncated ? Read::kOverrun : Read::kMessages;
}

}  // namespace turnpike::router
