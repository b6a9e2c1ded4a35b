// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/schemes.h"

#include "lab/compare/compare.h"

namespace turnpike::lab {

tl::expected<std::vector<config::Setting>, std::vector<config::Mistake>> settings_of(
    const RunSpec& run) {
  std::vector<config::Setting> settings = run.settings;
  if (run.scheme.empty()) return settings;
  const auto topology = config::load_file(run.file, settings);
  if (!topology) return tl::unexpected(topology.error());
  for (auto& setting : settings_for(*topology, run.scheme)) settings.push_back(std::move(setting));
  return settings;
}

}  // namespace turnpike::lab
