// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/link_monitor.h"

#include <array>
#include <cstdio>

namespace turnpike {
namespace {

constexpr unsigned kInterfaceCalls = 5;  // calls of poll() per check of the kernel interfaces

std::string after(Nanos time) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.2f s", to_seconds(time));
  return text.data();
}

}  // namespace

LinkMonitor::LinkMonitor(std::vector<Link> links) {
  for (Link& link : links) {
    Watched w;
    w.up = link.port->link_up();
    w.carrier = link.port->interface_state() == KernelInterface::State::kUp;
    w.link = std::move(link);
    links_.push_back(std::move(w));
  }
}

std::vector<std::string> LinkMonitor::poll(Nanos now) {
  std::vector<std::string> lines;
  restored_.clear();
  for (size_t i = 0; i < links_.size(); ++i) check(links_[i], i, now, lines);
  ++calls_;
  return lines;
}

void LinkMonitor::check(Watched& w, size_t index, Nanos now, std::vector<std::string>& lines) {
  const bool was_up = w.up && w.carrier;
  if (calls_ % kInterfaceCalls == 0) {
    const auto state = w.link.port->interface_state();
    if (state == KernelInterface::State::kGone)
      fatal_ = "link " + w.link.name + ": interface " + w.link.port->interface() + " was removed";
    w.carrier = state == KernelInterface::State::kUp;
  }
  w.up = w.link.port->keep_link();
  const bool up = w.up && w.carrier;
  if (up == was_up) return;
  if (!up) {
    w.since = now;
    // Some drivers of kernel interfaces report the carrier, too, as a link that is down.
    const std::string& interface = w.link.port->interface();
    lines.push_back("link " + w.link.name + " is down: " +
                    (interface.empty() ? "peer disconnected" : "no carrier on " + interface));
    return;
  }
  restored_.push_back(index);
  lines.push_back("link " + w.link.name + " is up" +
                  (w.since > Nanos(0) ? " again after " + after(now - w.since) : ""));
}

std::string LinkMonitor::down() const {
  std::string names;
  for (const Watched& w : links_)
    if (!w.up || !w.carrier) names += (names.empty() ? "" : ", ") + w.link.name;
  return names;
}

}  // namespace turnpike
