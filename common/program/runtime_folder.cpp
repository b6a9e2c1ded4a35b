// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/runtime_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace turnpike {
namespace {

constexpr std::string_view kMark = "%t/";
constexpr mode_t kFolderMode = 0750;   // its group may use the control socket
constexpr mode_t kSocketsMode = 0700;  // packets are the service's own

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

}  // namespace

std::string runtime_folder() {
  const std::string services = environment("RUNTIME_DIRECTORY");  // the first of a list
  if (!services.empty()) return services.substr(0, services.find(':'));
  const std::string session = environment("XDG_RUNTIME_DIR");
  if (!session.empty() && is_folder(session)) return session + "/turnpike";
  if (geteuid() == 0) return "/run/turnpike";
  return "/tmp/turnpike-" + std::to_string(geteuid());
}

std::string state_folder() {
  const std::string services = environment("STATE_DIRECTORY");
  return services.substr(0, services.find(':'));
}

tl::expected<void, std::string> prepare_own_folder(const std::string& path, mode_t mode) {
  const auto refused = [&](const std::string& why) {
    return tl::unexpected("the folder for sockets, " + path + ", " + why);
  };
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST)
    return refused(std::string("cannot be created: ") + std::strerror(errno));
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return refused(std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) return refused("is no folder: remove it");
  if (status.st_uid != geteuid()) return refused("belongs to another user: remove it");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refused("may be written to by others: chmod go-w " + path);
  return {};
}

bool in_runtime_folder(std::string_view name) { return name.starts_with(kMark); }

std::string socket_path(const std::string& name) {
  return in_runtime_folder(name) ? runtime_folder() + "/" + name.substr(kMark.size()) : name;
}

tl::expected<void, std::string> prepare_socket_folder(const std::string& name) {
  if (!in_runtime_folder(name)) return {};
  if (auto done = prepare_own_folder(runtime_folder(), kFolderMode); !done) return done;
  const std::string folder = std::filesystem::path(socket_path(name)).parent_path().string();
  return folder == runtime_folder() ? tl::expected<void, std::string>()
                                    : prepare_own_folder(folder, kSocketsMode);
}

}  // namespace turnpike
