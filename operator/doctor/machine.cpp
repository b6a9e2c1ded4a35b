// SPDX-License-Identifier: BSD-3-Clause
#include "operator/doctor/machine.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace turnpike::ops {
namespace {

namespace fs = std::filesystem;

/// `data` begins with an ethtool command, and is filled in.
bool ask_ethtool(const std::string& interface, void* data) {
  if (interface.empty() || interface.size() >= IFNAMSIZ) return false;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  ifreq request{};
  std::memcpy(request.ifr_name, interface.data(), interface.size());
  request.ifr_data = static_cast<char*>(data);
  const bool known = ioctl(fd, SIOCETHTOOL, &request) == 0;
  close(fd);
  return known;
}

template <size_t N>
std::string text_in(const char (&field)[N]) {
  return {field, strnlen(field, N)};
}

std::optional<Machine::Driver> ask_driver(const std::string& interface) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  if (!ask_ethtool(interface, &info)) return std::nullopt;
  return Machine::Driver{.name = text_in(info.driver),
                         .version = text_in(info.version),
                         .firmware = text_in(info.fw_version),
                         .bus = text_in(info.bus_info)};
}

std::optional<uint32_t> ask_kernel(const std::string& interface, uint32_t command) {
  // A value and a structure of pause settings begin alike: the command, then words.
  union {
    ethtool_value value;
    ethtool_pauseparam pause;
  } asked{};
  asked.value.cmd = command;
  if (!ask_ethtool(interface, &asked)) return std::nullopt;
  if (command == ETHTOOL_GPAUSEPARAM) return asked.pause.rx_pause | asked.pause.tx_pause;
  return asked.value.data;
}

}  // namespace

Machine::Machine(std::string root, Ethtool ethtool, AskDriver driver)
    : root_(std::move(root)), ethtool_(std::move(ethtool)), driver_(std::move(driver)) {
  if (!ethtool_ && root_.empty()) ethtool_ = ask_kernel;
  if (!driver_ && root_.empty()) driver_ = ask_driver;
}

bool Machine::exists(const std::string& path) const {
  std::error_code failed;
  return fs::exists(root_ + path, failed);
}

std::string Machine::text(const std::string& path) const {
  std::ifstream in(root_ + path);
  std::ostringstream all;
  all << in.rdbuf();
  std::string text = all.str();
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::optional<int64_t> Machine::number(const std::string& path) const {
  std::ifstream in(root_ + path);
  int64_t value = 0;
  return in >> value ? std::optional<int64_t>(value) : std::nullopt;
}

std::string Machine::target(const std::string& path) const {
  std::error_code failed;
  return fs::read_symlink(root_ + path, failed).filename();
}

std::vector<std::string> Machine::names_in(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(root_ + folder, failed))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::optional<uint32_t> Machine::ethtool(const std::string& interface, uint32_t command) const {
  return ethtool_ ? ethtool_(interface, command) : std::nullopt;
}

std::vector<unsigned> cpus_of(const std::string& list) {
  constexpr unsigned kMax = 4096;
  std::vector<unsigned> cpus;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) {
    unsigned first = 0, last = 0;
    const int n = std::sscanf(part.c_str(), "%u-%u", &first, &last);
    if (n < 1) continue;
    if (n == 1) last = first;
    for (unsigned c = first; c <= std::min(last, kMax); ++c) cpus.push_back(c);
  }
  return cpus;
}

}  // namespace turnpike::ops
