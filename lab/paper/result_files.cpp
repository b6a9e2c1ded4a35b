// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/result_files.h"

#include "common/report/run_data.h"

namespace turnpike::lab {

const report::Csv* ResultFiles::csv(const std::string& path) {
  const auto [known, fresh] = csvs_.try_emplace(path);
  if (fresh)
    if (const auto text = report::read_text(path)) known->second = report::Csv::parse(*text);
  return known->second ? &*known->second : nullptr;
}

const nlohmann::json& ResultFiles::json(const std::string& path) {
  const auto [known, fresh] = jsons_.try_emplace(path);
  if (fresh) known->second = report::read_json(path).value_or(nullptr);
  return known->second;
}

}  // namespace turnpike::lab
