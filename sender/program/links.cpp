// SPDX-License-Identifier: BSD-3-Clause
#include "sender/program/links.h"

#include <chrono>
#include <iostream>
#include <thread>

#include "common/program/signals.h"
#include "common/units/text.h"

namespace turnpike::sender {
namespace {

/// Links in the order of the runners, then of each runner's hosts.
std::vector<LinkMonitor::Link> links_of(const config::Topology& t, LcoreRunners runners) {
  std::vector<LinkMonitor::Link> links;
  links.reserve(t.hosts.size());
  for (const auto& runner : runners)
    for (size_t i = 0; i < runner->ports().size(); ++i)
      links.push_back(
          {t.links[t.hosts[runner->hosts()[i]].link].name, &runner->ports()[i]->port()});
  return links;
}

}  // namespace

tl::expected<void, std::string> wait_for_peers(const config::Topology& topology,
                                               LcoreRunners runners, Nanos timeout) {
  const std::vector<LinkMonitor::Link> links = links_of(topology, runners);
  std::vector<Port*> ports;
  ports.reserve(links.size());
  for (const LinkMonitor::Link& link : links) ports.push_back(link.port);
  std::string text;
  for (const std::string& reason : start_ports(ports)) text += (text.empty() ? "" : "\n") + reason;
  if (!text.empty()) return tl::unexpected(text);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout.count());
  const auto down = wait_for_links(ports, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return end_requests() == 0 && std::chrono::steady_clock::now() < give_up;
  });
  for (const size_t i : down) text += (text.empty() ? "" : ", ") + links[i].name;
  if (text.empty()) return {};
  return tl::unexpected("no link after " + to_text(timeout) + ": " + text +
                        "; is turnpike-router running with the same file?");
}

Links::Links(const config::Topology& topology, LcoreRunners runners)
    : monitor_(links_of(topology, runners)) {
  for (const auto& runner : runners)
    runners_.insert(runners_.end(), runner->ports().size(), runner.get());
}

void Links::poll(Nanos now) {
  for (const std::string& line : monitor_.poll(now))
    std::cerr << "turnpike-sender: " << line << '\n';
  for (const size_t i : monitor_.restored()) runners_[i]->link_restored();
}

}  // namespace turnpike::sender
