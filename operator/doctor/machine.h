// SPDX-License-Identifier: BSD-3-Clause
// The machine as `turnpike doctor` reads it: files below /proc and /sys, and settings of NICs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace turnpike::ops {

/// All reads go through it, so that tests can make up a machine in a folder.
class Machine {
 public:
  /// The value of an ethtool command of one word (ETHTOOL_GGRO, ...); std::nullopt: unknown.
  using Ethtool =
      std::function<std::optional<uint32_t>(const std::string& interface, uint32_t command)>;

  /// Of an interface's kernel driver, as `ethtool -i` prints it.
  struct Driver {
    std::string name, version, firmware, bus;
  };
  using AskDriver = std::function<std::optional<Driver>(const std::string& interface)>;

  /// `root`: the folder of proc/, sys/ and dev/; "" is this machine.
  explicit Machine(std::string root = "", Ethtool ethtool = {}, AskDriver driver = {});

  [[nodiscard]] bool exists(const std::string& path) const;
  /// The file's text without its last newline; "": there is none.
  [[nodiscard]] std::string text(const std::string& path) const;
  [[nodiscard]] std::optional<int64_t> number(const std::string& path) const;
  /// The last part of a symbolic link's target; "": it is none.
  [[nodiscard]] std::string target(const std::string& path) const;
  [[nodiscard]] std::vector<std::string> names_in(const std::string& folder) const;
  [[nodiscard]] std::optional<uint32_t> ethtool(const std::string& interface,
                                                uint32_t command) const;
  /// std::nullopt: unknown.
  [[nodiscard]] std::optional<Driver> driver(const std::string& interface) const {
    return driver_ ? driver_(interface) : std::nullopt;
  }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
  Ethtool ethtool_;
  AskDriver driver_;
};

/// CPUs of a list such as "0-3,8".
std::vector<unsigned> cpus_of(const std::string& list);

}  // namespace turnpike::ops
