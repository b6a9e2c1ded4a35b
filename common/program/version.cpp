// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/version.h"

#include <rte_version.h>

namespace turnpike {

std::string_view project_version() { return TURNPIKE_VERSION; }

std::string version_line(std::string_view program) {
  std::string_view loaded = rte_version();  // "DPDK 22.11.3"
  loaded.remove_prefix(loaded.find_last_of(' ') + 1);
  std::string out = std::string(program) + " " + std::string(project_version()) + " (commit " +
                    std::string(commit()) + ", DPDK " + std::string(loaded);
  if (loaded != TURNPIKE_DPDK_VERSION) out += ", compiled against " TURNPIKE_DPDK_VERSION;
  return out + ")";
}

}  // namespace turnpike
