// SPDX-License-Identifier: BSD-3-Clause
#include "sender/program/ports.h"

#include <algorithm>

#include "common/program/attachment.h"

namespace turnpike::sender {
namespace {

bool played_by_a_sender(const config::Topology& t, const std::string& node) {
  return std::ranges::any_of(t.hosts,
                             [&](const config::Host& h) { return h.name == node && !h.external; });
}

}  // namespace

std::vector<std::string> pci_addresses(const config::Topology& t,
                                       const std::vector<uint32_t>& hosts) {
  std::vector<std::string> addresses;
  for (const uint32_t h : hosts) {
    const auto* pci = std::get_if<config::AttachPci>(&t.interface_of(t.hosts[h]).attachment);
    if (pci != nullptr) addresses.push_back(pci->address);
  }
  return addresses;
}

tl::expected<std::unique_ptr<OpenPort>, std::string> OpenPort::attach(const config::Topology& t,
                                                                      uint32_t host) {
  const config::Host& h = t.hosts[host];
  const auto device = device_at(t.links[h.link], h.end, host, 1);
  if (!device) return tl::unexpected(device.error());
  auto port = Port::attach(*device);
  if (!port) return tl::unexpected("host " + h.name + ": " + port.error());
  return std::unique_ptr<OpenPort>(new OpenPort(std::move(*port), host, device->keeps));
}

tl::expected<void, std::string> OpenPort::configure(const config::Topology& t, rte_mempool* pool,
                                                    size_t pool_size) {
  const config::Host& h = t.hosts[host_];
  const config::Link& link = t.links[h.link];
  if (auto done =
          port_.configure({.mtu = link.mtu, .ip_verdicts = true, .udp_verdicts = true}, {&pool, 1});
      !done)
    return tl::unexpected("host " + h.name + ": " + done.error());
  const bool arrivals = !played_by_a_sender(t, link.ends[1 - h.end].node);
  delay_line_ = delay_line_at(port_.queue(0), link, h.end, arrivals, pool_size);
  return {};
}

}  // namespace turnpike::sender
