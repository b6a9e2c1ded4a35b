// SPDX-License-Identifier: BSD-3-Clause
// DPDK's own log: out of the way while things work, part of the error when they do not.
#pragma once

#include <string>

namespace turnpike {

/// Leads DPDK's log to standard error. Without this call it goes to the system log as well.
void install_dpdk_log();

/// While one exists, what DPDK logs is kept instead of shown. One at a time.
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
