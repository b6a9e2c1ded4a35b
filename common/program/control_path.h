// SPDX-License-Identifier: BSD-3-Clause
// Where a router's control socket is, for the router and for the tools that talk to it.
#pragma once

#include <filesystem>
#include <string>

namespace turnpike {

/// Version of the requests and replies on a control socket.
inline constexpr int kControlVersion = 1;
/// Largest request, B.
inline constexpr size_t kMaxControlRequest = size_t{1} << 20;

/// The folder of control sockets: `given` unless it is empty, else runtime_folder().
std::filesystem::path control_folder(const std::string& given);

/// The socket of the router of this name in `folder`.
inline std::filesystem::path control_path(const std::filesystem::path& folder,
                                          const std::string& router) {
  return folder / (router + ".sock");
}

}  // namespace turnpike
