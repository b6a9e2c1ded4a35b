// SPDX-License-Identifier: BSD-3-Clause
#include "lab/program/disturbance.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/report/run_data.h"
#include "sender/results/summary.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;
using report::number_at;

constexpr double kWakeUp = 20e-6;                      // s that a wake-up takes on any kernel
constexpr auto kProbe = std::chrono::milliseconds(2);  // between two looks at the clock

/// The ninth word of the first line of /proc/stat, proc_stat(5).
double stolen_s() {
  std::ifstream file("/proc/stat");
  std::string word;
  for (int i = 0; i < 9; ++i) file >> word;
  return std::atof(word.c_str()) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// Of a process's threads, the longest time that one was ready and did not run, beyond wake-ups:
/// its polling one's. Zero where the kernel keeps no such account.
double waited_s(const std::string& pid) {
  double most = 0;
  std::error_code gone;
  for (const auto& thread : fs::directory_iterator("/proc/" + pid + "/task", gone)) {
    std::ifstream file(thread.path() / "schedstat");
    double ran = 0, waited = 0, turns = 0;
    if (file >> ran >> waited >> turns) most = std::max(most, waited * 1e-9 - turns * kWakeUp);
  }
  return most;
}

/// Of this process's children.
double children_waited_s() {
  double sum = 0;
  std::error_code gone;
  for (const auto& thread : fs::directory_iterator("/proc/self/task", gone)) {
    std::ifstream file(thread.path() / "children");
    for (std::string pid; file >> pid;) sum += waited_s(pid);
  }
  return sum;
}

}  // namespace

TimeTaken TimeTaken::operator-(const TimeTaken& before) const {
  // A process may wait less than the constant that is subtracted per wake-up.
  return {stalled - before.stalled, std::max(waited - before.waited, 0.0), stolen - before.stolen,
          probe - before.probe};
}

double TimeTaken::most() const { return std::max({stalled, waited, stolen}); }

// Blocks signals in this thread, so that the thread that waits for them receives them.
Disturbance::Disturbance() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  probe_ = std::thread([this] { probe(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Disturbance::~Disturbance() {
  over_ = true;
  probe_.join();
}

void Disturbance::probe() {
  using Clock = std::chrono::steady_clock;
  prctl(PR_SET_TIMERSLACK, 1UL);
  for (auto before = Clock::now(); !over_;) {
    std::this_thread::sleep_for(kProbe);
    const auto now = Clock::now();
    const std::chrono::duration<double> late = now - before - kProbe;
    late_ = late_ + std::max(late.count(), 0.0);
    before = now;
  }
}

void Disturbance::hear(const std::string& program, const std::string& line, bool sender) {
  const auto said = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  const double t = number_at(said, {"t"});
  if (!std::isfinite(t)) return;
  if (const double ms = number_at(said, {"stalled_ms"}); ms >= 0) stalled_[program] = ms * 1e-3;
  ++lines_[program];
  if (!sender) return;
  TimeTaken taken{0, children_waited_s(), stolen_s(), late_};
  for (const auto& [name, s] : stalled_) taken.stalled += s;
  moments_.push_back({t, taken, lines_});
}

TimeTaken Disturbance::between(double from, double to) const {
  if (moments_.empty()) return {};
  auto first = std::ranges::upper_bound(moments_, from, {}, &Moment::t);
  if (first != moments_.begin()) --first;
  const auto end = std::ranges::lower_bound(moments_, to, {}, &Moment::t);
  auto last = std::find_if(end, moments_.end(), [&](const Moment& later) {
    return std::ranges::all_of(later.lines, [&](const auto& program) {
      const auto before = end->lines.find(program.first);
      return before == end->lines.end() || program.second > before->second;
    });
  });
  if (last == moments_.end()) --last;
  return last->taken - first->taken;
}

double Disturbance::most_stalled() const {
  double most = 0;
  for (size_t i = 1; i < moments_.size(); ++i)
    most = std::max(most, moments_[i].taken.stalled - moments_[i - 1].taken.stalled);
  return most;
}

void add_disturbance(nlohmann::json& summary, const Disturbance& disturbance) {
  const auto share = [&](double from, double to) {
    return to > from ? std::clamp(disturbance.between(from, to).most() / (to - from), 0.0, 1.0) : 0;
  };
  nlohmann::json& verdict = summary["verdict"];
  const double tolerance = number_at(verdict, {"tolerance"});
  bool shares_ok = true, utilization_ok = true;
  for (auto& i : summary["intervals"]) {
    const double taken = share(number_at(i, {"from"}), number_at(i, {"to"}));
    i["taken"] = taken;
    for (const auto& host : i["hosts"])
      shares_ok = shares_ok && std::fabs(number_at(host, {"error"})) <= tolerance + taken;
    for (const auto& link : i["links"])
      if (link["bottleneck"] == true)
        utilization_ok =
            utilization_ok && number_at(link, {"utilization"}) >= sender::kMinUtilization - taken;
  }
  if (!summary["intervals"].empty()) {
    verdict["shares_ok"] = shares_ok;
    verdict["utilization_ok"] = utilization_ok;
  }
  const double whole = number_at(summary, {"duration_s"});
  const TimeTaken all = disturbance.between(0, whole);
  summary["machine"] = {{"stalled_s", all.stalled},  {"most_stalled_s", disturbance.most_stalled()},
                        {"waited_s", all.waited},    {"stolen_s", all.stolen},
                        {"probe_late_s", all.probe}, {"taken", share(0, whole)}};
}

}  // namespace turnpike::lab
