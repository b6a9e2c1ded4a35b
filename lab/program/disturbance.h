// SPDX-License-Identifier: BSD-3-Clause
// What a machine takes from a run in real time, measured while it runs.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace turnpike::lab {

/// Time that programs did not get, s. Each figure misses something that another one has: kernels
/// do not count a stopped process as waiting, short waits are no stalls, and a hypervisor's time
/// counts as the guest's unless the hypervisor tells.
struct TimeTaken {
  double stalled = 0;  // between polls of a router or the sender, 1 ms or more each
  double waited = 0;   // ready to run while others ran, by the kernel's account, beyond wake-ups
  double stolen = 0;   // all CPUs, by the hypervisor's account
  double probe = 0;    // by which a thread that only sleeps and reads the clock was late

  [[nodiscard]] TimeTaken operator-(const TimeTaken& before) const;
  /// The time that shares and links may lack for it.
  [[nodiscard]] double most() const;
};

/// Watches from its construction on; notes what was taken so far whenever the sender speaks.
class Disturbance {
 public:
  Disturbance();
  Disturbance(const Disturbance&) = delete;
  Disturbance& operator=(const Disturbance&) = delete;
  ~Disturbance();

  /// A line of live JSON, by the program of that name; only the sender's have the run's time.
  void hear(const std::string& program, const std::string& line, bool sender);

  /// Between two moments of the run, s, or somewhat more: from one word of the sender to another.
  [[nodiscard]] TimeTaken between(double from, double to) const;

 private:
  struct Moment {
    double t;
    TimeTaken taken;
  };
  void probe();

  std::map<std::string, double> stalled_;  // s so far, by program
  std::vector<Moment> moments_;
  std::atomic<double> late_{0};  // s, the probe's
  std::atomic<bool> over_{false};
  std::thread probe_;
};

/// Adds to each interval of a summary "taken", the share of its time that the machine took, and to
/// the whole "machine" {stalled_s, waited_s, stolen_s, probe_late_s, taken}; then judges shares and
/// utilisation anew, which may be off by as much more.
void add_disturbance(nlohmann::json& summary, const Disturbance& disturbance);

}  // namespace turnpike::lab
