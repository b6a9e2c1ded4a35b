// SPDX-License-Identifier: BSD-3-Clause
// Rows of JSON as a table for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace turnpike::ops {

using Json = nlohmann::ordered_json;

/// How a value is written.
enum class Format : uint8_t {
  kText,
  kCount,   // with a unit prefix from 10,000 on: 12.3 k
  kBytes,   // 12.3 kB
  kRate,    // bit/s: 100 Mbps
  kShare,   // 0 to 1, in percent
  kNumber,  // four significant digits
  kFlag,    // yes, no
};

struct Column {
  std::string_view title, key;
  Format format = Format::kText;
};

/// A title line and a line per row; columns of numbers are aligned to the right. Missing values are
/// "-".
std::string table_text(const std::vector<Column>& columns, const Json& rows);

/// One value as a table writes it.
std::string value_text(const Json& value, Format format);

}  // namespace turnpike::ops
