// SPDX-License-Identifier: BSD-3-Clause
// From a YAML file to a Topology, or to the list of its mistakes.
//
// Example:
//
//     #include <cstdio>
//
//     const Setting slower{.path = "links.bottleneck.rate", .value = "50 Mbps"};
//     const Loaded topology = load_file("configs/demo.yaml", {&slower, 1});
//     if (!topology) {
//       for (const Mistake& mistake : topology.error()) std::puts(mistake.text().c_str());
//     }
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/parallel/threads.h"

namespace turnpike::config {

/// A value for one key of a file, from the command line: links.bottleneck.rate=1 Gbps.
struct Setting {
  std::string path;   // keys, and list indices from 0, joined by dots
  std::string value;  // YAML
};

/// "path=value"; std::nullopt without a path or without "=".
std::optional<Setting> parse_setting(std::string_view text);

/// One mistake; line and column count from 1; both 0 if the file could not be read.
struct Mistake {
  std::string file;
  int line = 0, column = 0;
  std::string path;     // in the tree: links.bottleneck.rate
  std::string message;  // the mistake, and the nearest correct spelling if one is near

  [[nodiscard]] std::string text() const;  // file:line:column: path: message
};

using Loaded = tl::expected<Topology, std::vector<Mistake>>;

/// Reads, checks and completes a topology; `settings` replace values of the file. On failure
/// returns all mistakes, in file order. The number of threads changes neither.
Loaded load_file(const std::string& path, std::span<const Setting> settings = {},
                 const Threads& threads = Threads());
/// The same for text in memory; mistakes name the file `name`.
Loaded load_text(const std::string& text, const std::string& name,
                 std::span<const Setting> settings = {}, const Threads& threads = Threads());

}  // namespace turnpike::config
