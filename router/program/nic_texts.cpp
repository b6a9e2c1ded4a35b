// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/nic_texts.h"

namespace turnpike::router {
namespace {

std::string flow_control_text(const Port& port) {
  const auto wanted = port.wanted_flow_control(), now = port.flow_control();
  if (!now) return "not offered";
  const std::string text(name_of(*now));
  if (!wanted) return text + " (as the driver sets it)";
  return wanted == now ? text : text + ", the file says " + std::string(name_of(*wanted));
}

}  // namespace

std::vector<std::string> nic_texts(std::span<const Port> ports,
                                   std::span<const std::string> links) {
  std::vector<std::string> texts;
  for (size_t l = 0; l < ports.size(); ++l)
    if (const Port& p = ports[l]; p.physical())
      texts.push_back("link " + links[l] + ": " + p.name() + ", driver " + p.driver() + "; " +
                      offloads_text(p.offloads()) + "; flow control: " + flow_control_text(p));
  return texts;
}

std::vector<std::string> spread_warnings(std::span<const Port> ports,
                                         std::span<const std::string> links) {
  std::vector<std::string> texts;
  for (size_t l = 0; l < ports.size(); ++l)
    if (const Port& p = ports[l]; p.physical() && !p.offloads().spread_warning.empty())
      texts.push_back("link " + links[l] + ": " + p.name() + " " + p.offloads().spread_warning);
  return texts;
}

}  // namespace turnpike::router
