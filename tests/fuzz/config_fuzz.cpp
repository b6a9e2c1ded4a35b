// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a topology file: the loader returns a topology or mistakes, in bounded time and
// memory.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/config/load.h"
#include "common/config/path.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace turnpike::config;
  const Loaded loaded =
      load_text(std::string(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
  if (!loaded) {
    // Mistakes have places, in the file's order.
    if (loaded.error().empty()) std::abort();
    for (size_t i = 1; i < loaded.error().size(); ++i) {
      const Mistake &a = loaded.error()[i - 1], &b = loaded.error()[i];
      if (a.line > b.line || (a.line == b.line && a.column > b.column)) std::abort();
    }
    return 0;
  }
  // An accepted topology is complete: every flow has a path.
  for (const Flow& flow : loaded->flows)
    if (path_between(*loaded, flow.from, flow.to, flow.ip_version).empty()) std::abort();
  for (const Link& link : loaded->links)
    for (const Direction& direction : link.directions)
      if (direction.rate.count() <= 0 || direction.buffer.count() < link.mtu) std::abort();
  return 0;
}
