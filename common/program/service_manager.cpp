// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/service_manager.h"

#include <cstdlib>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace turnpike {
namespace {

constexpr int64_t kReportsPerInterval = 4;  // systemd advises two; a busy machine may delay one

int connect_to(const std::string& socket_name) {
  sockaddr_un address{};
  if (socket_name.empty() || socket_name.size() >= sizeof address.sun_path) return -1;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_name.data(), socket_name.size());
  if (socket_name.front() == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_name.size());
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

std::string text_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Whether $WATCHDOG_PID, if it is there, is this process.
bool is_watched() {
  const std::string pid = text_of("WATCHDOG_PID");
  return pid.empty() || pid == std::to_string(getpid());
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
  const int64_t micros = std::strtoll(text_of("WATCHDOG_USEC").c_str(), nullptr, 10);
  return ServiceManager(text_of("NOTIFY_SOCKET"), Nanos(is_watched() ? micros * 1000 : 0));
}

ServiceManager::ServiceManager(const std::string& socket, Nanos watchdog)
    : fd_(connect_to(socket)), interval_(Nanos(watchdog.count() / kReportsPerInterval)) {}

ServiceManager::~ServiceManager() {
  if (fd_ >= 0) close(fd_);
}

void ServiceManager::ready(std::string_view status) const {
  send("READY=1\nSTATUS=" + std::string(status));
}

void ServiceManager::stopping() const { send("STOPPING=1"); }

void ServiceManager::watch(Nanos now, std::span<const int64_t> progress) {
  if (interval_ <= Nanos(0) || now < next_) return;
  bool all = true;
  if (progress_.size() == progress.size())
    for (size_t i = 0; i < progress.size(); ++i) all = all && progress[i] != progress_[i];
  if (!all) return;  // asks again at the next call
  progress_.assign(progress.begin(), progress.end());
  next_ = now + interval_;
  send("WATCHDOG=1");
}

void ServiceManager::send(const std::string& state) const {
  // A manager whose queue is full misses a report; the next one follows.
  if (fd_ >= 0) [[maybe_unused]]
    const ssize_t sent = ::send(fd_, state.data(), state.size(), MSG_NOSIGNAL);
}

}  // namespace turnpike
