// SPDX-License-Identifier: BSD-3-Clause
// Measures the time that the machine takes from a run in real time.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace turnpike::lab {

/// Time that programs did not get, s. No figure covers all causes: kernels do not count a stopped
/// process as waiting, short waits are no stalls, and a hypervisor's time counts as the guest's
/// unless the hypervisor reports it.
struct TimeTaken {
  double stalled = 0;  // between polls of a router or the sender, 1 ms or more each
  double waited = 0;   // ready to run while others ran, by the kernel's account, less wake-ups
  double stolen = 0;   // all CPUs, by the hypervisor's account
  double probe = 0;    // by which a thread that only sleeps and reads the clock was late

  [[nodiscard]] TimeTaken operator-(const TimeTaken& before) const;
  /// An upper bound of the time that shares and links may lack, s.
  [[nodiscard]] double most() const;
};

/// Measures from its construction on; notes the totals at each live line of the sender.
class Disturbance {
 public:
  Disturbance();
  Disturbance(const Disturbance&) = delete;
  Disturbance& operator=(const Disturbance&) = delete;
  ~Disturbance();

  /// Takes a line of live JSON that the program wrote; only the sender's lines have the run's time.
  void hear(const std::string& program, const std::string& line, bool sender);

  /// Time taken between two moments of the run, s, rounded outwards to live lines of the sender.
  /// The later one is a line after which every program has written once more: a program reports a
  /// stall in its next line.
  [[nodiscard]] TimeTaken between(double from, double to) const;
  /// The most that programs were stalled from one live line of the sender to the next, s.
  [[nodiscard]] double most_stalled() const;

 private:
  struct Moment {
    double t;
    TimeTaken taken;
    std::map<std::string, size_t> lines;  // heard of each program so far
  };
  void probe();

  std::map<std::string, double> stalled_;  // s so far, by program
  std::map<std::string, size_t> lines_;
  std::vector<Moment> moments_;
  std::atomic<double> late_{0};  // s, the probe's
  std::atomic<bool> over_{false};
  std::thread probe_;
};

/// Adds to each interval of a summary "taken", the share of its time that the machine took, and to
/// the whole "machine" {stalled_s, most_stalled_s, waited_s, stolen_s, probe_late_s, taken}. Then
/// checks shares and utilisation again, with bounds that are wider by that time.
void add_disturbance(nlohmann::json& summary, const Disturbance& disturbance);

}  // namespace turnpike::lab
