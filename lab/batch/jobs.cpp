// SPDX-License-Identifier: BSD-3-Clause
#include "lab/batch/jobs.h"

#include <algorithm>
#include <list>
#include <thread>

#include <poll.h>

#include "lab/interrupts.h"
#include "lab/program/stopwatch.h"

namespace turnpike::lab {
namespace {

struct Running {
  size_t job;
  Child child;
  std::string output = {};
  Stopwatch watch = {};
};

std::string why(const Child& child) {
  const int code = child.exit_code();
  if (code == 0) return "";
  const std::string how = code > 128 ? "was ended by signal " + std::to_string(code - 128)
                                     : "failed with exit code " + std::to_string(code);
  const std::string tail = child.log_tail();
  return how + (tail.empty() ? "" : ":\n" + tail);
}

void wait(const Interrupts& interrupts, const std::list<Running>& running) {
  std::vector<pollfd> fds{{.fd = interrupts.fd(), .events = POLLIN, .revents = 0}};
  for (const Running& r : running)
    fds.push_back({.fd = r.child.output(), .events = POLLIN, .revents = 0});
  poll(fds.data(), fds.size(), -1);
}

}  // namespace

bool run_jobs(std::span<const Command> commands, unsigned at_once,
              const std::function<void(const JobEnd&)>& on_end) {
  const Interrupts interrupts;
  std::list<Running> running;
  size_t next = 0;
  while (next < commands.size() || !running.empty()) {
    while (next < commands.size() && running.size() < std::max(1U, at_once)) {
      const size_t job = next++;
      auto child = Child::start(commands[job]);
      if (child)
        running.push_back({job, std::move(*child)});
      else
        on_end({.job = job, .why = child.error()});
    }
    if (running.empty()) break;
    wait(interrupts, running);
    if (interrupts.take()) return false;
    for (auto r = running.begin(); r != running.end();) {
      for (const std::string& line : r->child.take_lines()) r->output += line + "\n";
      if (!r->child.ended()) {
        ++r;
        continue;
      }
      on_end({r->job, why(r->child), std::move(r->output), r->watch.seconds()});
      r = running.erase(r);
    }
  }
  return true;
}

unsigned processors() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace turnpike::lab
