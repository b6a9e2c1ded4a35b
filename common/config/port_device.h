// SPDX-License-Identifier: BSD-3-Clause
// The device under a port, by name: links that name the same one share the port.
#pragma once

#include <string>

#include "common/config/topology/attachments.h"

namespace turnpike::config {

/// The device that a process attaches once, such as "interface eth0"; empty: none that links could
/// share.
std::string port_device(const Attachment& attachment);

}  // namespace turnpike::config
