// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/service_manager.h"

#include <array>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace turnpike {
namespace {

/// The manager's end of the socket.
class Manager {
 public:
  Manager() : name_("@turnpike-manager-" + std::to_string(getpid())) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name_.data(), name_.size());
    address.sun_path[0] = '\0';
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    bound_ = bind(fd_, reinterpret_cast<const sockaddr*>(&address),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size())) == 0;
  }
  ~Manager() { close(fd_); }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool bound() const { return bound_; }
  /// The next datagram; empty: none.
  [[nodiscard]] std::string heard() const {
    std::array<char, 256> text{};
    const ssize_t n = recv(fd_, text.data(), text.size(), 0);
    return {text.data(), static_cast<size_t>(n < 0 ? 0 : n)};
  }

 private:
  std::string name_;
  int fd_ = -1;
  bool bound_ = false;
};

TEST(ServiceManager, HearsOfReadiness) {
  const Manager manager;
  ASSERT_TRUE(manager.bound());
  const ServiceManager service(manager.name(), Nanos(0));
  service.ready("forwards");
  EXPECT_EQ(manager.heard(), "READY=1\nSTATUS=forwards");
  service.stopping();
  EXPECT_EQ(manager.heard(), "STOPPING=1");
}

TEST(ServiceManager, WatchdogEndsWhenOneLcoreIsStuck) {
  const Manager manager;
  ServiceManager service(manager.name(), 400_ms);
  service.watch(Nanos(0), std::array<int64_t, 2>{1, 1});
  EXPECT_EQ(manager.heard(), "WATCHDOG=1");
  service.watch(99_ms, std::array<int64_t, 2>{2, 2});
  EXPECT_EQ(manager.heard(), "");  // not due yet
  service.watch(100_ms, std::array<int64_t, 2>{3, 3});
  EXPECT_EQ(manager.heard(), "WATCHDOG=1");
  service.watch(200_ms, std::array<int64_t, 2>{4, 3});  // the second lcore has not polled
  EXPECT_EQ(manager.heard(), "");
  service.watch(210_ms, std::array<int64_t, 2>{5, 4});
  EXPECT_EQ(manager.heard(), "WATCHDOG=1");
}

TEST(ServiceManager, IsSilentWithoutAManager) {
  ServiceManager service("", 400_ms);
  service.ready("");
  service.watch(Nanos(0), {});
  const Manager manager;
  const ServiceManager unwatched(manager.name(), Nanos(0));
  ServiceManager("/nowhere/socket", 1_s).stopping();
  EXPECT_EQ(manager.heard(), "");
}

}  // namespace
}  // namespace turnpike
