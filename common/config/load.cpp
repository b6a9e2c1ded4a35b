// SPDX-License-Identifier: BSD-3-Clause
// The way of a file: text, tree, typed file, topology; mistakes of all stages come together.
#include "common/config/load.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/config/draft.h"
#include "common/config/reader.h"
#include "common/config/setting.h"
#include "common/config/yaml_tree.h"

namespace turnpike::config {

Loaded load_text(const std::string& text, const std::string& name,
                 std::span<const Setting> settings) {
  Mistakes mistakes(name);
  auto tree = parse_yaml(text, mistakes);
  if (!tree) return tl::unexpected(mistakes.sorted());
  for (const Setting& s : settings) apply(s, *tree, mistakes);
  const FileSpec file = read_file_spec(*tree, mistakes);
  Draft draft(file, mistakes);
  place_run(draft);
  place_nodes(draft);
  place_links(draft);
  place_addresses(draft);
  place_ports(draft);
  place_routes(draft);
  place_traffic(draft);
  place_streams(draft);
  place_buffers(draft);
  if (!mistakes.empty()) return tl::unexpected(mistakes.sorted());
  return std::move(draft.topology);
}

Loaded load_file(const std::string& path, std::span<const Setting> settings) {
  const auto unreadable = [&](const std::string& why) {
    return tl::unexpected(std::vector<Mistake>{{path, 0, 0, "", "cannot be read: " + why}});
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return unreadable("it is a directory");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return unreadable(std::strerror(errno));
  // One byte more than is allowed is enough to refuse the rest, be it /dev/zero.
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return unreadable("input error");
  text.resize(static_cast<size_t>(in.gcount()));
  return load_text(text, path, settings);
}

}  // namespace turnpike::config
