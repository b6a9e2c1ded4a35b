// SPDX-License-Identifier: BSD-3-Clause
#include "sender/program/start.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <ctime>

#include <poll.h>
#include <rte_cycles.h>
#include <unistd.h>

#include "common/program/signals.h"
#include "common/program/unix_time.h"

namespace turnpike::sender {
namespace {

constexpr int kPeriodMs = 100;        // between two looks for a signal
constexpr int64_t kSpin = 1'000'000;  // ns before the start in which this thread does not sleep
constexpr int64_t kMaxWait = 60'000'000'000;  // ns until the start, or since
constexpr size_t kMaxLine = 64;               // B

/// The counter's value at that UNIX time.
uint64_t ticks_at(int64_t unix_time) {
  const uint64_t before = TscClock::ticks();
  const int64_t now = unix_ns();
  const uint64_t middle = before + (TscClock::ticks() - before) / 2;
  const double ticks =
      static_cast<double>(unix_time - now) * 1e-9 * static_cast<double>(rte_get_tsc_hz());
  return middle + static_cast<uint64_t>(static_cast<int64_t>(ticks));
}

/// A line of standard input, without its newline; empty: it ended, or a signal came.
std::string read_line() {
  std::string line;
  while (end_requests() == 0 && line.size() < kMaxLine) {
    pollfd fd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (poll(&fd, 1, kPeriodMs) <= 0) continue;
    char c = 0;
    const ssize_t n = ::read(STDIN_FILENO, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return "";
    if (c == '\n') return line;
    line += c;
  }
  return "";
}

void sleep_until(int64_t unix_time) {
  while (unix_ns() < unix_time && end_requests() == 0) {
    const timespec pause{.tv_sec = 0,
                         .tv_nsec = std::min<int64_t>(unix_time - unix_ns(), 20'000'000)};
    if (pause.tv_nsec > 0) nanosleep(&pause, nullptr);
  }
}

}  // namespace

Start start_now() {
  return {.clock = TscClock(rte_get_tsc_hz(), TscClock::ticks()),
          .unix_s = static_cast<double>(unix_ns()) * 1e-9};
}

tl::expected<Start, std::string> start_as_told() {
  std::puts("{\"ready\":true}");
  std::fflush(stdout);
  const std::string line = read_line();
  int64_t at = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), at);
  if (line.empty()) return tl::unexpected(std::string("standard input ended before the start"));
  const int64_t now = unix_ns();
  if (error != std::errc() || end != line.data() + line.size() || at < now - kMaxWait ||
      at > now + kMaxWait)
    return tl::unexpected("'" + line + "' is no start within a minute");
  sleep_until(at - kSpin);
  const uint64_t origin = ticks_at(at);
  while (static_cast<int64_t>(TscClock::ticks() - origin) < 0) rte_pause();
  return Start{.clock = TscClock(rte_get_tsc_hz(), origin),
               .unix_s = static_cast<double>(at) * 1e-9};
}

}  // namespace turnpike::sender
