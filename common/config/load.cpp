// SPDX-License-Identifier: BSD-3-Clause
// Loads a file: text, tree, typed file, topology. Collects the mistakes of all steps.
#include "common/config/load.h"

#include "common/config/draft.h"
#include "common/config/generate.h"
#include "common/config/reader.h"
#include "common/config/setting.h"
#include "common/config/yaml_tree.h"
#include "common/units/input_file.h"

namespace turnpike::config {

Loaded load_text(const std::string& text, const std::string& name,
                 std::span<const Setting> settings, const Threads& threads) {
  Mistakes mistakes(name);
  auto tree = parse_yaml(text, mistakes);
  if (!tree) return tl::unexpected(mistakes.sorted());
  for (const Setting& s : settings) apply(s, *tree, mistakes);
  FileSpec file = read_file_spec(*tree, mistakes);
  generate(file, mistakes);
  Draft draft(file, mistakes, threads);
  draft.topology.edge_lists = file.edge_lists;
  place_run(draft);
  place_nodes(draft);
  place_links(draft);
  place_addresses(draft);
  place_ports(draft);
  place_control(draft);
  place_routes(draft);
  place_trees(draft);
  place_customers(draft);
  place_gateways(draft);
  place_traffic(draft);
  place_streams(draft);
  place_buffers(draft);
  if (!mistakes.empty()) return tl::unexpected(mistakes.sorted());
  return std::move(draft.topology);
}

Loaded load_file(const std::string& path, std::span<const Setting> settings,
                 const Threads& threads) {
  const auto text = read_input_file(path, kMaxFileBytes);
  if (!text)
    return tl::unexpected(
        std::vector<Mistake>{{path, 0, 0, "", "cannot be read: " + text.error()}});
  return load_text(*text, path, settings, threads);
}

}  // namespace turnpike::config
