// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/multicast_groups.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <sstream>

#include <arpa/inet.h>
#include <fcntl.h>

#include "router/linux/network_namespace.h"

namespace turnpike::router {

namespace {

std::string whole(const File& file) {
  std::string text;
  char part[4096];
  while (file) {
    const ssize_t n = pread(file.fd(), part, sizeof part, static_cast<off_t>(text.size()));
    if (n <= 0) break;
    text.append(part, static_cast<size_t>(n));
  }
  return text;
}

template <class T>
std::optional<T> hexadecimal(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// The link of an interface; links: none.
size_t link_of(std::string_view name, std::span<const std::string> interfaces) {
  return static_cast<size_t>(std::ranges::find(interfaces, name) - interfaces.begin());
}

// Lines of an interface begin with its number: "2  eth0 : 1 V3". Lines of its groups begin with a
// tab: the group as a word in network order, printed as the processor reads it.
void add_ipv4(std::string_view text, std::span<const std::string> interfaces, JoinedGroups& out) {
  std::istringstream lines{std::string(text)};
  size_t link = interfaces.size();
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, name;
    words >> first >> name;
    if (line.empty() || line[0] == '\t' || line[0] == ' ') {
      const auto group = hexadecimal<uint32_t>(first);
      if (group && link < interfaces.size()) out.links[link].ipv4.push_back(ntohl(*group));
    } else {
      link = link_of(name, interfaces);
    }
  }
}

// "2    eth0            ff020000000000000000000000000001     1 0000000C 0"
void add_ipv6(std::string_view text, std::span<const std::string> interfaces, JoinedGroups& out) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, name, group;
    words >> number >> name >> group;
    const size_t link = link_of(name, interfaces);
    config::Ipv6 address{};
    if (link == interfaces.size() || group.size() != 2 * address.size()) continue;
    bool valid = true;
    for (size_t i = 0; i < address.size(); ++i) {
      const auto byte = hexadecimal<uint8_t>(std::string_view(group).substr(2 * i, 2));
      valid = valid && byte;
      address[i] = byte.value_or(0);
    }
    if (valid) out.links[link].ipv6.push_back(address);
  }
}

}  // namespace

JoinedGroups parse_groups(std::string_view igmp, std::string_view igmp6,
                          std::span<const std::string> interfaces) {
  JoinedGroups groups{.links = std::vector<JoinedGroups::OnLink>(interfaces.size())};
  add_ipv4(igmp, interfaces, groups);
  add_ipv6(igmp6, interfaces, groups);
  for (auto& link : groups.links) {
    std::ranges::sort(link.ipv4);
    std::ranges::sort(link.ipv6);
  }
  return groups;
}

tl::expected<MulticastGroups, std::string> MulticastGroups::open(
    std::vector<std::string> interfaces, const std::string& network_namespace) {
  const auto inside = ScopedNetworkNamespace::enter(network_namespace);
  if (!inside) return tl::unexpected(inside.error());
  MulticastGroups g;
  g.interfaces_ = std::move(interfaces);
  g.igmp_ = File(::open("/proc/thread-self/net/igmp", O_RDONLY | O_CLOEXEC));
  g.igmp6_ = File(::open("/proc/thread-self/net/igmp6", O_RDONLY | O_CLOEXEC));
  return g;
}

JoinedGroups MulticastGroups::read() const {
  return parse_groups(whole(igmp_), whole(igmp6_), interfaces_);
}

}  // namespace turnpike::router
