// SPDX-License-Identifier: BSD-3-Clause
// The committed schema is the one that the code means.
#include "common/config/schema.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "common/config/load.h"

namespace turnpike::config {
namespace {

TEST(Schema, TheCommittedOneIsUpToDate) {
  std::ifstream in(TURNPIKE_SOURCE_ROOT "/configs/turnpike.schema.json");
  const std::string committed((std::istreambuf_iterator<char>(in)), {});
  EXPECT_TRUE(committed == schema_text())
      << "make it anew: build/lab/turnpike schema > configs/turnpike.schema.json";
}

TEST(Configs, AllCommittedTopologiesAreRight) {
  size_t n = 0;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(TURNPIKE_SOURCE_ROOT "/configs")) {
    if (file.path().extension() != ".yaml") continue;
    const Loaded loaded = load_file(file.path().string());
    if (!loaded)
      for (const Mistake& m : loaded.error()) ADD_FAILURE() << m.text();
    ++n;
  }
  EXPECT_GE(n, 3U);
}

}  // namespace
}  // namespace turnpike::config
