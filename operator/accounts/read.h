// SPDX-License-Identifier: BSD-3-Clause
// Reads the accounts of customers that a gateway has written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/config/mistakes.h"

namespace turnpike::ops {

/// A customer's figures of one period.
struct AccountLine {
  double time = 0;                             // UNIX time of the period's end, s
  double seconds = 0;                          // its length
  double offered = 0, carried = 0, bytes = 0;  // B; see docs/gateway.md, Accounts
  double spend = 0;                            // $
  double limited = 0, ceiling = 0;             // s
  double wait_p99 = 0;                         // s
};

struct CustomerLines {
  std::string name;
  std::vector<AccountLine> lines;
};

/// Accounts of a period, out of one or several files of one gateway.
class AccountReader {
 public:
  /// Reads a file. Mistakes have file, line and column; a file that cannot be read is one, too. An
  /// unfinished last line, of a file that is being written, is left out.
  void read(const std::string& path, config::Mistakes& mistakes);
  /// The same for text in memory; mistakes name the file `name`.
  void parse(std::string_view text, const std::string& name, config::Mistakes& mistakes);

  /// Customers by name, the lines of each by time.
  [[nodiscard]] std::vector<CustomerLines> take();

 private:
  std::unordered_map<std::string, std::vector<AccountLine>> lines_;
};

}  // namespace turnpike::ops
