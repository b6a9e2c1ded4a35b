// SPDX-License-Identifier: BSD-3-Clause
// Instructions that this thread executes outside the kernel, where machine and kernel count them.
#pragma once

#include <cstdint>
#include <optional>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace turnpike::bench {

/// The processor's own counter (perf_event_open(2)). Many virtual machines have none; nor has a
/// process that kernel.perf_event_paranoid forbids it.
class InstructionCounter {
 public:
  InstructionCounter() {
    perf_event_attr what{};
    what.type = PERF_TYPE_HARDWARE;
    what.size = sizeof what;
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    file_ = static_cast<int>(syscall(SYS_perf_event_open, &what, 0, -1, -1, 0));
  }
  ~InstructionCounter() {
    if (file_ >= 0) close(file_);
  }
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;

  /// Since this object was made; nothing where they are not counted.
  [[nodiscard]] std::optional<uint64_t> read() const {
    uint64_t n = 0;
    if (file_ < 0 || ::read(file_, &n, sizeof n) != sizeof n) return {};
    return n;
  }

 private:
  int file_ = -1;
};

}  // namespace turnpike::bench
