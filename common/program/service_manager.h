// SPDX-License-Identifier: BSD-3-Clause
// Tells the service manager (systemd) about the program's state, by sd_notify(3)'s datagrams.
// Without a manager nothing is sent. The protocol is a line of text to a Unix socket; libsystemd
// would bring its compression and cryptography libraries into a process that shall be able to do as
// little as possible.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/units/units.h"

namespace turnpike {

/// Used by the control thread.
class ServiceManager {
 public:
  /// Connects to the socket that the environment names ($NOTIFY_SOCKET); call before the sandbox.
  /// `watchdog`: how soon the manager restarts a silent service ($WATCHDOG_USEC).
  static ServiceManager from_environment();
  /// `socket`: a path, or @name; empty: no manager. `watchdog`: 0: none.
  ServiceManager(const std::string& socket, Nanos watchdog);
  ServiceManager(ServiceManager&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        interval_(other.interval_),
        next_(other.next_),
        progress_(std::move(other.progress_)) {}
  ServiceManager& operator=(ServiceManager&&) = delete;
  ~ServiceManager();

  /// The service forwards packets. `status`: a line for `systemctl status`.
  void ready(std::string_view status) const;
  void stopping() const;

  /// Call every 10 to 100 ms. `progress`: a number per lcore that changes with every poll. Four
  /// times per watchdog interval, reports that the service is alive if each of them has changed
  /// since the last report: an lcore that is stuck ends the reports, and the manager restarts the
  /// service.
  void watch(Nanos now, std::span<const int64_t> progress);

 private:
  void send(const std::string& state) const;

  int fd_ = -1;
  Nanos interval_{0};  // between reports
  Nanos next_{0};
  std::vector<int64_t> progress_;
};

}  // namespace turnpike
