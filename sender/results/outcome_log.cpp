// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/outcome_log.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace turnpike::sender {

namespace {

static_assert(std::is_trivially_copyable_v<FlowOutcome>);

/// Opens an unnamed file in `folder`; -1: failed.
int nameless_file(const std::string& folder) {
  if (const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); fd >= 0) return fd;
  // The file system may lack O_TMPFILE: make a file and unlink it at once.
  std::string name = folder + "/outcomes-XXXXXX";
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) unlink(name.c_str());
  return fd;
}

/// Calls transfer(bytes done, bytes left), which returns like pread(), until all `size` B are done.
template <class F>
bool whole(size_t size, F&& transfer) {
  for (size_t done = 0; done < size;) {
    const ssize_t n = transfer(done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

OutcomeLog::~OutcomeLog() {
  if (file_ >= 0) close(file_);
}

void OutcomeLog::push_back(const FlowOutcome& outcome) {
  if (!in_memory_ && recent_.size() == kInMemory && !spill()) {
    recent_ = take();
    in_memory_ = true;
  }
  recent_.push_back(outcome);
}

// A block that is written only in part stays in memory as a whole.
bool OutcomeLog::spill() {
  if (file_ < 0) file_ = nameless_file(folder_);
  if (file_ < 0) return false;
  const auto* from = reinterpret_cast<const uint8_t*>(recent_.data());
  const size_t at = spilled_ * sizeof(FlowOutcome);
  if (!whole(recent_.size() * sizeof(FlowOutcome), [&](size_t done, size_t left) {
        return pwrite(file_, from + done, left, static_cast<off_t>(at + done));
      }))
    return false;
  spilled_ += recent_.size();
  recent_.clear();
  return true;
}

std::vector<FlowOutcome> OutcomeLog::take() {
  if (spilled_ == 0) return std::exchange(recent_, {});
  std::vector<FlowOutcome> everything(spilled_);
  auto* to = reinterpret_cast<uint8_t*>(everything.data());
  errno = 0;
  if (!whole(spilled_ * sizeof(FlowOutcome), [&](size_t done, size_t left) {
        return pread(file_, to + done, left, static_cast<off_t>(done));
      }))
    throw std::runtime_error(folder_ +
                             ": outcomes of flows cannot be read back: " + std::strerror(errno));
  everything.insert(everything.end(), recent_.begin(), recent_.end());
  recent_.clear();
  spilled_ = 0;
  return everything;
}

}  // namespace turnpike::sender
