// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/control_path.h"

#include "common/program/runtime_folder.h"

namespace turnpike {

std::filesystem::path control_folder(const std::string& given) {
  if (!given.empty()) return given;
  return runtime_folder();
}

}  // namespace turnpike
