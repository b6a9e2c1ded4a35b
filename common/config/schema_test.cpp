// SPDX-License-Identifier: BSD-3-Clause
// The committed schema equals the one made from the code.
#include "common/config/schema.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/config/load.h"
#include "common/protocols/registry.h"
#include "common/units/instrumented.h"

namespace turnpike::config {
namespace {

TEST(Schema, TheCommittedOneIsUpToDate) {
  std::ifstream in(TURNPIKE_SOURCE_ROOT "/configs/turnpike.schema.json");
  const std::string committed((std::istreambuf_iterator<char>(in)), {});
  EXPECT_TRUE(committed == schema_text())
      << "make it anew: build/lab/turnpike schema > configs/turnpike.schema.json";
}

TEST(Configs, AllCommittedTopologiesAreRight) {
  std::vector<std::filesystem::path> files;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(TURNPIKE_SOURCE_ROOT "/configs"))
    if (file.path().extension() == ".yaml") files.push_back(file.path());
  std::ranges::sort(files);
  size_t n = 0;
  // Resolve.EveryTopologyOfTheTreeComesBackUnchanged loads the others in instrumented builds.
  for (size_t i = kInstrumented ? 1 : 0; i < files.size(); i += kInstrumented ? 2 : 1) {
    if (kInstrumented && files[i].filename() == "as-like.yaml") continue;  // half a minute
    const Loaded loaded = load_file(files[i].string());
    if (!loaded)
      for (const Mistake& m : loaded.error()) ADD_FAILURE() << m.text();
    ++n;
  }
  EXPECT_GE(n, 3U);
}

// All keys of all maps in the schema.
void collect_keys(const nlohmann::json& schema, std::set<std::string>& keys) {
  for (const auto& [name, value] : schema.items()) {
    if (name == "properties")
      for (const auto& property : value.items()) keys.insert(property.key());
    if (value.is_structured()) collect_keys(value, keys);
  }
}

TEST(Configs, EveryKeyIsTakenSomewhere) {
  const std::string path = TURNPIKE_SOURCE_ROOT "/tests/config/every-key.yaml";
  const Loaded loaded = load_file(path);
  if (!loaded)
    for (const Mistake& m : loaded.error()) ADD_FAILURE() << m.text();
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  std::set<std::string> keys;
  collect_keys(nlohmann::json::parse(schema_text()), keys);
  // Parameters belong to their protocols, whose tests check them.
  for (const Protocol& p : protocols()) {
    keys.erase(std::string(p.name));
    for (const auto& specs : {p.link_params, p.flow_params})
      for (const ParamSpec& spec : specs) keys.erase(std::string(spec.name));
  }
  for (const std::string& key : keys)
    EXPECT_NE(text.find(key + ":"), std::string::npos) << key << " is missing in " << path;
}

}  // namespace
}  // namespace turnpike::config
