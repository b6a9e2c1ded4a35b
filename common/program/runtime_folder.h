// SPDX-License-Identifier: BSD-3-Clause
// The folder of a service's sockets: memif's, and the control socket. Other users cannot enter it,
// so none can take a socket's name before the service does, or put a link there.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>
#include <tl/expected.hpp>

namespace turnpike {

/// $RUNTIME_DIRECTORY (systemd), else $XDG_RUNTIME_DIR/turnpike if that folder exists, else
/// /run/turnpike for root, else /tmp/turnpike-UID. Two programs of one user that share sockets must
/// agree about it.
std::string runtime_folder();

/// $STATE_DIRECTORY (systemd), the first of its folders; empty: none.
std::string state_folder();

/// Creates the folder, and folders above it, with this mode. The error: it is a symbolic link,
/// belongs to another user, or others may write to it.
tl::expected<void, std::string> prepare_own_folder(const std::string& path, mode_t mode);

/// A memif socket's path from its name in the topology: a leading "%t/" (as in systemd.unit(5))
/// stands for the run-time folder.
std::string socket_path(const std::string& name);

/// Whether the socket lies in the run-time folder.
bool in_runtime_folder(std::string_view name);

/// Creates the folders of that socket, only the service's own. Does nothing for other sockets.
tl::expected<void, std::string> prepare_socket_folder(const std::string& name);

}  // namespace turnpike
