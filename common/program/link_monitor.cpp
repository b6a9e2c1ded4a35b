// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/link_monitor.h"

namespace turnpike {
namespace {

constexpr unsigned kInterfaceCalls = 5;  // calls of poll() per check of the kernel interfaces

std::string why_down(const Port& port) {
  if (!port.has_carrier()) return "peer disconnected";
  return "no carrier on " + (port.interface().empty() ? port.name() : port.interface());
}

}  // namespace

LinkMonitor::LinkMonitor(std::vector<Link> links) {
  for (Link& link : links) {
    const bool up = link.port->link_up();
    const bool carrier = link.port->interface_state() == KernelInterface::State::kUp;
    // A port that has no carrier from the start gives a line; a memif port waits for its peer.
    LinkChanges changes(link.name, (up && carrier) || link.port->has_carrier());
    links_.push_back({std::move(link), up, carrier, std::move(changes)});
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
  if (w.link.port->removed())
    fatal_ = "link " + w.link.name + ": device " + w.link.port->name() + " was removed";
  w.up = w.link.port->keep_link();
  const bool up = w.up && w.carrier;
  if (up && !was_up) restored_.push_back(index);
  if (auto line = w.changes.line(up, up ? "" : why_down(*w.link.port), now)) lines.push_back(*line);
}

std::string LinkMonitor::down() const {
  std::string names;
  for (const Watched& w : links_)
    if (!w.up || !w.carrier) names += (names.empty() ? "" : ", ") + w.link.name;
  return names;
}

}  // namespace turnpike
