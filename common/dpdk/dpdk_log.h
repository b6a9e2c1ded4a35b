// SPDX-License-Identifier: BSD-3-Clause
// DPDK's own log: quiet by default, and part of the error message after a failure.
#pragma once

#include <string>

namespace turnpike {

/// Sends DPDK's log to standard error only; by default it goes to the system log as well.
void install_dpdk_log();

/// While an object exists, DPDK's log lines are kept instead of shown. One object at a time.
class CapturedLog {
 public:
  CapturedLog();
  ~CapturedLog();
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  /// The lines so far, joined by "; ".
  [[nodiscard]] std::string text() const;
};

}  // namespace turnpike
