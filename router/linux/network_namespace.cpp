// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/network_namespace.h"

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>

#include <fcntl.h>
#include <sched.h>

namespace turnpike::router {

namespace {

constexpr const char* kFolder = "/run/netns/";

}  // namespace

tl::expected<ScopedNetworkNamespace, std::string> ScopedNetworkNamespace::enter(
    const std::string& name) {
  if (name.empty()) return ScopedNetworkNamespace(File());
  const File target(open((kFolder + name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!target)
    return tl::unexpected("network namespace '" + name + "': " + std::strerror(errno) +
                          "; make it with: ip netns add " + name);
  File former(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!former)
    return tl::unexpected(std::string("/proc/thread-self/ns/net: ") + std::strerror(errno));
  if (setns(target.fd(), CLONE_NEWNET) != 0)
    return tl::unexpected("network namespace '" + name + "': " + std::strerror(errno) +
                          (errno == EPERM ? "; run as root, or with CAP_SYS_ADMIN" : ""));
  return ScopedNetworkNamespace(std::move(former));
}

ScopedNetworkNamespace::~ScopedNetworkNamespace() {
  if (former_ && setns(former_.fd(), CLONE_NEWNET) != 0) std::terminate();
}

std::vector<std::string> network_namespaces() {
  std::vector<std::string> names;
  std::error_code none;  // no folder: none has been made
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, none))
    names.push_back(entry.path().filename());
  return names;
}

}  // namespace turnpike::router
