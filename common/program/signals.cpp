// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/signals.h"

#include <atomic>
#include <csignal>
#include <initializer_list>

namespace turnpike {
namespace {

constexpr int kForcedAt = 2;  // the third request ends the process at once

static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes them");
std::atomic<int> requests{0};
std::atomic<int> first{0};

std::atomic<int> reloads{0};

void on_reload(int /*number*/) { reloads.store(1); }

void on_signal(int number) {
  int none = 0;
  first.compare_exchange_strong(none, number);
  if (requests.fetch_add(1) < kForcedAt) return;
  std::signal(number, SIG_DFL);
  std::raise(number);  // delivered when this handler returns
}

void set_handler(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // DPDK does not expect EINTR
  sigaction(number, &action, nullptr);
}

}  // namespace

void handle_signals() {
  for (const int number : {SIGTERM, SIGINT}) set_handler(number, on_signal);
  if (!is_ignored(SIGHUP)) set_handler(SIGHUP, on_signal);
  ignore_signals();
}

void reload_on_hup() { set_handler(SIGHUP, on_reload); }

bool take_reload_request() { return reloads.exchange(0) != 0; }

void ignore_signals() {
  for (const int number : {SIGPIPE, SIGUSR1, SIGUSR2, SIGXFSZ}) set_handler(number, SIG_IGN);
}

bool is_ignored(int number) {
  struct sigaction now {};
  return sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

int end_requests() { return requests.load(std::memory_order_relaxed); }

const char* end_signal() {
  switch (first.load(std::memory_order_relaxed)) {
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "";
  }
}

}  // namespace turnpike
