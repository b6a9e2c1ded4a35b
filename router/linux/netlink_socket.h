// SPDX-License-Identifier: BSD-3-Clause
// A non-blocking rtnetlink socket: requests, dumps and notifications (netlink(7)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

struct mnl_socket;
struct nlmsghdr;

namespace turnpike::router {

class NetlinkSocket {
 public:
  /// RTNLGRP_* that tell of links, addresses, neighbours, routes and nexthop objects, IPv4 and
  /// IPv6.
  static std::vector<unsigned> route_groups();

  /// Opens a socket in the thread's network namespace and subscribes it to `groups`.
  /// `receive_buffer` in B: 0 leaves the system's default. More than net.core.rmem_max needs
  /// CAP_NET_ADMIN; without it the socket takes what the kernel grants (receive_buffer()).
  static tl::expected<NetlinkSocket, std::string> open(const std::vector<unsigned>& groups,
                                                       size_t receive_buffer);

  /// Readable when receive() has something to read.
  [[nodiscard]] int fd() const;
  /// The buffer in B, as the kernel accounts for it (twice the size asked for).
  [[nodiscard]] size_t receive_buffer() const;
  /// Messages that the kernel dropped since the socket was opened, as its buffer was full.
  [[nodiscard]] uint64_t dropped() const;

  /// Sends one request to the kernel. Returns false, with errno set, where it was refused.
  bool send(const nlmsghdr& request);

  enum class Read : uint8_t {
    kMessages,  // some; there may be more
    kEmpty,     // nothing is waiting
    kOverrun,   // messages were lost: ENOBUFS, or a datagram larger than the buffer
    kFailed,    // any other error: errno
  };
  /// Reads at most kBatch datagrams with one system call and gives the kernel's messages to
  /// `handle`; messages of other processes are ignored.
  Read receive(const std::function<void(const nlmsghdr&)>& handle);

  static constexpr size_t kBatch = 16;
  static constexpr size_t kMaxDatagram = size_t{128} << 10;  // B; attributes end at 64 KiB

 private:
  struct Close {
    void operator()(mnl_socket* socket) const;
  };
  explicit NetlinkSocket(mnl_socket* socket);

  std::unique_ptr<mnl_socket, Close> socket_;
  std::unique_ptr<uint8_t[]> buffer_;  // kBatch datagrams
};

}  // namespace turnpike::router
