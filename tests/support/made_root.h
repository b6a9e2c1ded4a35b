// SPDX-License-Identifier: BSD-3-Clause
// A folder that stands for the root of a machine's files, for tests of code that reads /proc and
// /sys.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace turnpike::testing {

/// Removed with the object.
class MadeRoot {
 public:
  MadeRoot() {
    std::string path = std::filesystem::temp_directory_path() / "root-XXXXXX";
    root = mkdtemp(path.data());
  }
  ~MadeRoot() { std::filesystem::remove_all(root); }
  MadeRoot(const MadeRoot&) = delete;
  MadeRoot& operator=(const MadeRoot&) = delete;

  /// Writes a file at an absolute path below the root, and makes its folders.
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }

  std::string root;
};

}  // namespace turnpike::testing
