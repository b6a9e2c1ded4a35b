// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/interface_requests.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/time.h>

#include "common/wire/bytes.h"
#include "router/linux/attributes.h"

namespace turnpike::router {

namespace {

constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};

/// The errno of an NLMSG_ERROR, 0 of an acknowledgement.
int error_in(const nlmsghdr& message) {
  int error = 0;
  if (mnl_nlmsg_get_payload_len(&message) < sizeof error) return EBADMSG;
  std::memcpy(&error, mnl_nlmsg_get_payload(&message), sizeof error);
  return -error;
}

/// The name and the alias that a message about an interface has.
AliasedInterface interface_in(const nlmsghdr& message) {
  AliasedInterface found;
  const size_t size = mnl_nlmsg_get_payload_len(&message);
  if (size < sizeof(ifinfomsg)) return found;
  const auto* payload = static_cast<const uint8_t*>(mnl_nlmsg_get_payload(&message));
  ifinfomsg header{};
  std::memcpy(&header, payload, sizeof header);
  found.index = static_cast<unsigned>(header.ifi_index);
  for_each_attribute(std::span(payload, size).subspan(MNL_ALIGN(sizeof header)),
                     [&](const Attribute& a) {
                       if (a.type == IFLA_IFNAME) found.name = a.text();
                       if (a.type == IFLA_IFALIAS) found.alias = a.text();
                       return true;
                     });
  return found;
}

}  // namespace

void InterfaceRequests::Close::operator()(mnl_socket* socket) const { mnl_socket_close(socket); }

tl::expected<InterfaceRequests, int> InterfaceRequests::open() {
  mnl_socket* socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
  if (socket == nullptr) return tl::unexpected(errno);
  InterfaceRequests made(socket);
  if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0) return tl::unexpected(errno);
  if (setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVTIMEO, &kPatience,
                 sizeof kPatience) != 0)
    return tl::unexpected(errno);
  return made;
}

// Sends a request and calls `use` for each message of its answer, up to the acknowledgement or the
// end of the dump.
template <class Header, class Fill, class Use>
tl::expected<void, int> InterfaceRequests::request(int type, int flags, const Header& header,
                                                   Fill&& fill, Use&& use) {
  alignas(nlmsghdr) std::array<char, 1024> buffer{};
  nlmsghdr* message = mnl_nlmsg_put_header(buffer.data());
  message->nlmsg_type = static_cast<uint16_t>(type);
  message->nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
  message->nlmsg_seq = ++sequence_;
  std::memcpy(mnl_nlmsg_put_extra_header(message, sizeof header), &header, sizeof header);
  fill(message);
  if (mnl_socket_sendto(socket_.get(), message, message->nlmsg_len) < 0)
    return tl::unexpected(errno);
  alignas(nlmsghdr) std::array<char, 32768> answer;
  for (;;) {
    const ssize_t n = mnl_socket_recvfrom(socket_.get(), answer.data(), answer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected(errno);
    int left = static_cast<int>(n);
    for (auto* m = reinterpret_cast<const nlmsghdr*>(answer.data()); mnl_nlmsg_ok(m, left);
         m = mnl_nlmsg_next(m, &left)) {
      if (m->nlmsg_seq != sequence_) continue;  // of a request that was given up
      if (m->nlmsg_type == NLMSG_DONE) return {};
      if (m->nlmsg_type != NLMSG_ERROR) {
        use(*m);
        continue;
      }
      if (const int error = error_in(*m); error != 0) return tl::unexpected(error);
      return {};
    }
  }
}

tl::expected<std::vector<AliasedInterface>, int> InterfaceRequests::aliased() {
  std::vector<AliasedInterface> all;
  const auto done = request(
      RTM_GETLINK, NLM_F_DUMP, ifinfomsg{}, [](nlmsghdr*) {},
      [&](const nlmsghdr& message) {
        if (AliasedInterface i = interface_in(message); !i.alias.empty())
          all.push_back(std::move(i));
      });
  if (!done) return tl::unexpected(done.error());
  return all;
}

tl::expected<void, int> InterfaceRequests::set_alias(unsigned interface, const std::string& alias) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(interface);
  return request(
      RTM_SETLINK, NLM_F_ACK, header,
      [&](nlmsghdr* m) { mnl_attr_put(m, IFLA_IFALIAS, alias.size(), alias.data()); },
      [](const nlmsghdr&) {});
}

tl::expected<void, int> InterfaceRequests::change_address(int type, int flags, unsigned interface,
                                                          const Prefix& address) {
  ifaddrmsg header{};
  header.ifa_index = interface;
  const auto done = std::visit(
      [&](const auto& a) {
        constexpr bool kIpv4 = std::is_same_v<std::decay_t<decltype(a)>, config::Ipv4Prefix>;
        header.ifa_family = kIpv4 ? AF_INET : AF_INET6;
        header.ifa_prefixlen = a.length;
        return request(
            type, NLM_F_ACK | flags, header,
            [&](nlmsghdr* m) {
              if constexpr (kIpv4) {
                std::array<uint8_t, 4> bytes{};
                wire::store_be32(bytes.data(), a.address);
                mnl_attr_put(m, IFA_LOCAL, bytes.size(), bytes.data());
                mnl_attr_put(m, IFA_ADDRESS, bytes.size(), bytes.data());
                if (a.length > 30) return;  // RFC 3021: no broadcast address
                wire::store_be32(bytes.data(), a.address | (~uint32_t{0} >> a.length));
                mnl_attr_put(m, IFA_BROADCAST, bytes.size(), bytes.data());
              } else {
                mnl_attr_put(m, IFA_LOCAL, a.address.size(), a.address.data());
              }
            },
            [](const nlmsghdr&) {});
      },
      address);
  return done;
}

tl::expected<void, int> InterfaceRequests::add(unsigned interface, const Prefix& address) {
  auto added = change_address(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, interface, address);
  if (!added && added.error() == EEXIST) return {};
  return added;
}

tl::expected<void, int> InterfaceRequests::remove(unsigned interface, const Prefix& address) {
  auto removed = change_address(RTM_DELADDR, 0, interface, address);
  if (!removed && removed.error() == EADDRNOTAVAIL) return {};
  return removed;
}

}  // namespace turnpike::router
