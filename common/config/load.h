// SPDX-License-Identifier: BSD-3-Clause
// From a YAML file to a Topology, or to every mistake in it.
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

namespace turnpike::config {

/// One value of a file, given by hand: links.bottleneck.rate=1 Gbps.
struct Setting {
  std::string path;   // keys, and places in lists counted from 0, joined by dots
  std::string value;  // YAML
};

/// "path=value"; nothing where there is no path or no "=".
std::optional<Setting> parse_setting(std::string_view text);

/// One mistake; line and column count from 1, 0 where the file itself could not be read.
struct Mistake {
  std::string file;
  int line = 0, column = 0;
  std::string path;     // where in the tree: links.bottleneck.rate
  std::string message;  // what is wrong, and the nearest right spelling where there is one

  [[nodiscard]] std::string text() const;  // file:line:column: path: message
};

using Loaded = tl::expected<Topology, std::vector<Mistake>>;

/// Reads, checks and completes a topology, with `settings` in place of what the file says. Mistakes
/// come in file order, all at once.
Loaded load_file(const std::string& path, std::span<const Setting> settings = {});
/// The same for text that is in memory; `name` stands for the file in mistakes.
Loaded load_text(const std::string& text, const std::string& name,
                 std::span<const Setting> settings = {});

}  // namespace turnpike::config
