// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/port_device.h"

namespace turnpike::config {

std::string port_device(const Attachment& a) {
  if (const auto* x = std::get_if<AttachPci>(&a)) return "PCI device " + x->address;
  if (const auto* x = std::get_if<AttachAfPacket>(&a)) return "interface " + x->interface;
  if (const auto* x = std::get_if<AttachAfXdp>(&a)) return "interface " + x->interface;
  if (const auto* x = std::get_if<AttachTap>(&a)) return "interface " + x->interface;
  if (const auto* x = std::get_if<AttachMemif>(&a))
    return "memif " + std::to_string(x->id) + " on " + x->socket;
  if (const auto* x = std::get_if<AttachVdev>(&a))
    return "device " + x->arguments.substr(0, x->arguments.find(','));
  return {};
}

}  // namespace turnpike::config
