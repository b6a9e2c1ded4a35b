// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/dpdk_log.h"

#include <cstdio>
#include <mutex>
#include <optional>

#include <rte_log.h>
#include <unistd.h>

namespace turnpike {

namespace {

struct Captured {
  std::mutex mutex;
  std::optional<std::string> lines;  // std::nullopt: not capturing
};

Captured& captured() {
  static Captured c;
  return c;
}

ssize_t write_log(void* /*cookie*/, const char* text, size_t size) {
  Captured& c = captured();
  const std::lock_guard lock(c.mutex);
  if (!c.lines) return ::write(STDERR_FILENO, text, size);
  c.lines->append(text, size);
  return static_cast<ssize_t>(size);
}

}  // namespace

void install_dpdk_log() {
  // Never closed: DPDK's interrupt thread may be writing to it at any moment.
  static FILE* const stream = [] {
    captured();
    FILE* f = fopencookie(nullptr, "w",
                          {.read = nullptr, .write = write_log, .seek = nullptr, .close = nullptr});
    if (f != nullptr) setvbuf(f, nullptr, _IOLBF, 1024);
    return f;
  }();
  rte_openlog_stream(stream);
}

CapturedLog::CapturedLog() {
  install_dpdk_log();
  Captured& c = captured();
  const std::lock_guard lock(c.mutex);
  c.lines.emplace();
}

CapturedLog::~CapturedLog() {
  Captured& c = captured();
  const std::lock_guard lock(c.mutex);
  c.lines.reset();
}

std::string CapturedLog::text() const {
  Captured& c = captured();
  const std::lock_guard lock(c.mutex);
  std::string text = c.lines.value_or("");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
    text.replace(at, 1, "; ");
  }
  return text;
}

}  // namespace turnpike
