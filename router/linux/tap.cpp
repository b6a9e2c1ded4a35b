// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/tap.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/config/address.h"
#include "router/linux/network_namespace.h"

namespace turnpike::router {

namespace {

constexpr const char* kDevice = "/dev/net/tun";
#ifndef IFF_NO_CARRIER
constexpr int IFF_NO_CARRIER = 0x0040;  // since Linux 6.0
#endif

ifreq request_for(const std::string& name) {
  ifreq r{};
  std::copy_n(name.data(), std::min(name.size(), sizeof r.ifr_name - 1), r.ifr_name);
  return r;
}

std::string error_text(const std::string& name, const std::string& what, int error) {
  return "interface '" + name + "': " + what + ": " + std::strerror(error);
}

std::string privilege(int error) {
  if (error != EPERM && error != EACCES) return {};
  return "; making interfaces takes CAP_NET_ADMIN: run as root, or "
         "setcap cap_net_admin+ep on the program";
}

std::string open_fix(int error) {
  if (error == ENOENT || error == ENODEV || error == ENXIO)
    return "; load the driver with: modprobe tun (in a container: --device /dev/net/tun)";
  return privilege(error);
}

std::string attach_fix(const std::string& name, int error) {
  if (error == EBUSY || error == EEXIST || error == EINVAL)
    return "; another interface has this name: remove it (ip link del " + name +
           "), or give the link another one under `control: {linux: {interfaces: ...}}`";
  return privilege(error);
}

std::string adopt_fix(const std::string& name, int error) {
  if (error == EBUSY) return "; another process has it open: is this router running already?";
  if (error == EINVAL) return "; it is no TAP interface: remove it (ip link del " + name + ")";
  return privilege(error);
}

}  // namespace

tl::expected<Tap, std::string> Tap::open(const TapOptions& options) {
  const auto fail = [&](const std::string& what, int error, const std::string& fix) {
    return tl::unexpected(error_text(options.name, what, error) + fix);
  };
  const auto inside = ScopedNetworkNamespace::enter(options.network_namespace);
  if (!inside) return tl::unexpected(inside.error());
  Tap t(options.name);
  t.tap_ = File(::open(kDevice, O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!t.tap_) return fail(kDevice, errno, open_fix(errno));
  ifreq r = request_for(options.name);
  constexpr int kFlags = IFF_TAP | IFF_NO_PI | IFF_NO_CARRIER;
  r.ifr_flags = static_cast<short>(kFlags | (options.adopt ? 0 : IFF_TUN_EXCL));
  if (ioctl(t.tap_.fd(), TUNSETIFF, &r) != 0) {
    if (options.adopt) return fail("cannot be opened again", errno, adopt_fix(options.name, errno));
    return fail("cannot be made", errno, attach_fix(options.name, errno));
  }
  // Before Linux 6.0 there is no IFF_NO_CARRIER.
  t.set_carrier(false);
  const File control(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!control) return fail("no socket", errno, "");

  r = request_for(options.name);
  if (ioctl(control.fd(), SIOCGIFINDEX, &r) != 0) return fail("no index", errno, "");
  t.index_ = static_cast<unsigned>(r.ifr_ifindex);
  // A change of the address makes Linux forget neighbours, and takes a privilege.
  r = request_for(options.name);
  if (ioctl(control.fd(), SIOCGIFHWADDR, &r) != 0) return fail("no MAC address", errno, "");
  if (std::memcmp(r.ifr_hwaddr.sa_data, options.mac.data(), options.mac.size()) != 0) {
    r.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    std::copy(options.mac.begin(), options.mac.end(), r.ifr_hwaddr.sa_data);
    if (ioctl(control.fd(), SIOCSIFHWADDR, &r) != 0)
      return fail("MAC address " + config::mac_text(options.mac), errno, privilege(errno));
  }
  r = request_for(options.name);
  if (ioctl(control.fd(), SIOCGIFMTU, &r) != 0) return fail("no MTU", errno, "");
  if (r.ifr_mtu != options.mtu) {
    r.ifr_mtu = options.mtu;
    if (ioctl(control.fd(), SIOCSIFMTU, &r) != 0)
      return fail("MTU " + std::to_string(options.mtu), errno, privilege(errno));
  }
  if (options.adopt) return t;
  r = request_for(options.name);
  if (ioctl(control.fd(), SIOCGIFFLAGS, &r) != 0) return fail("no flags", errno, "");
  r.ifr_flags = static_cast<short>(r.ifr_flags | IFF_UP);
  if (ioctl(control.fd(), SIOCSIFFLAGS, &r) != 0)
    return fail("cannot be set up", errno, privilege(errno));
  return t;
}

tl::expected<void, std::string> Tap::keep() {
  // The driver takes these two by value.
  if (ioctl(tap_.fd(), TUNSETOWNER, static_cast<unsigned long>(geteuid())) == 0 &&
      ioctl(tap_.fd(), TUNSETPERSIST, 1UL) == 0)
    return {};
  return tl::unexpected(error_text(name_, "cannot be kept", errno));
}

tl::expected<void, std::string> Tap::remove(const std::string& name,
                                            const std::string& network_namespace) {
  const auto inside = ScopedNetworkNamespace::enter(network_namespace);
  if (!inside) return tl::unexpected(inside.error());
  const File tap(::open(kDevice, O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tap) return tl::unexpected(error_text(name, kDevice, errno) + open_fix(errno));
  ifreq r = request_for(name);
  r.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_NO_CARRIER;
  if (ioctl(tap.fd(), TUNSETIFF, &r) == 0 && ioctl(tap.fd(), TUNSETPERSIST, 0UL) == 0) return {};
  const int error = errno;
  return tl::unexpected(error_text(name, "cannot be removed", error) + adopt_fix(name, error));
}

void Tap::set_carrier(bool up) {
  int value = up ? 1 : 0;
  // Fails only if the interface is gone.
  if (ioctl(tap_.fd(), TUNSETCARRIER, &value) == 0) carrier_ = up;
}

}  // namespace turnpike::router
