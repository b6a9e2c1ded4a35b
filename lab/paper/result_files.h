// SPDX-License-Identifier: BSD-3-Clause
// Files of runs' results, which many metrics and charts read.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "common/report/csv.h"

namespace turnpike::lab {

/// Reads and parses each file when it is first asked for, and keeps it: a file must not change
/// while the object lives. For one thread.
class ResultFiles {
 public:
  /// Null: there is no such file.
  const report::Csv* csv(const std::string& path);
  /// null if there is no JSON object in the file.
  const nlohmann::json& json(const std::string& path);

 private:
  std::map<std::string, std::optional<report::Csv>> csvs_;
  std::map<std::string, nlohmann::json> jsons_;
};

}  // namespace turnpike::lab
