// SPDX-License-Identifier: BSD-3-Clause
// Memory available to this process on this machine and in its control group.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace turnpike {

/// The number that a file consists of; std::nullopt if there is no such file or it says "max".
inline std::optional<size_t> number_in(const std::string& path) {
  std::ifstream in(path);
  uint64_t value = 0;
  return in >> value ? std::optional<size_t>(value) : std::nullopt;
}

/// The number after `key` at the beginning of a line.
inline std::optional<size_t> number_after(const std::string& path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return std::stoull(line.substr(key.size()));
  return std::nullopt;
}

/// Memory that a control group and its ancestors may still allocate, B. Page cache counts as free:
/// the kernel reclaims it first.
inline std::optional<size_t> left_in_group(std::string folder, const std::string& top,
                                           const char* limit, const char* usage) {
  std::optional<size_t> least;
  for (;;) {
    const auto most = number_in(folder + limit), used = number_in(folder + usage);
    if (most && used) {
      const size_t cache = number_after(folder + "/memory.stat", "inactive_file ").value_or(0);
      const size_t taken = *used - std::min(*used, cache);
      const size_t left = *most - std::min(*most, taken);
      least = std::min(least.value_or(left), left);
    }
    if (folder.size() <= top.size()) return least;
    folder.resize(folder.find_last_of('/'));
  }
}

/// Available memory in B; std::nullopt if the system does not say. `root`: folder of proc/ and
/// sys/.
inline std::optional<size_t> available_memory(const std::string& root = "") {
  std::optional<size_t> available = number_after(root + "/proc/meminfo", "MemAvailable:");
  if (available) *available *= 1024;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // hierarchy:controllers:path; version 2 names no controllers.
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    std::optional<size_t> left;
    if (controllers.empty()) {
      const std::string top = root + "/sys/fs/cgroup";
      left = left_in_group(top + path, top, "/memory.max", "/memory.current");
    } else if (controllers == "memory") {
      const std::string top = root + "/sys/fs/cgroup/memory";
      left = left_in_group(top + path, top, "/memory.limit_in_bytes", "/memory.usage_in_bytes");
    }
    if (left) available = std::min(available.value_or(*left), *left);
  }
  return available;
}

/// The reason why a program that gives EAL `eal_memory` MB cannot run here; empty: it can.
/// Otherwise the kernel would kill it while it allocates packet buffers.
inline std::string memory_obstacle(unsigned eal_memory, std::optional<size_t> available) {
  constexpr size_t kMegabyte = 1'000'000;
  constexpr unsigned kReserve = 64;  // MB of EAL's memory that a program never touches
  const unsigned needed = eal_memory - std::min(eal_memory, kReserve);
  if (!available || needed <= *available / kMegabyte) return "";
  return "packet buffers and tables take " + std::to_string(needed) + " MB, and this machine, or " +
         "the control group that the program runs in, has " +
         std::to_string(*available / kMegabyte) +
         " MB to give: allow it more memory, or give links smaller buffers";
}

}  // namespace turnpike
