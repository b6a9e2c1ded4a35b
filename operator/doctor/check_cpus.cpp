// SPDX-License-Identifier: BSD-3-Clause
// CPUs: isolation, siblings, frequency, the time stamp counter, and the control group's share.
#include <algorithm>
#include <sstream>

#include "operator/doctor/checks.h"

namespace turnpike::ops {
namespace {

const std::string kCpus = "/sys/devices/system/cpu/";

bool holds(const std::vector<unsigned>& set, unsigned cpu) {
  return std::ranges::find(set, cpu) != set.end();
}

std::string text_of(const std::vector<unsigned>& cpus) {
  std::string text;
  for (const unsigned c : cpus) text += (text.empty() ? "" : ",") + std::to_string(c);
  return text;
}

void check_online(const Machine& m, const Wanted& w, Findings& out) {
  const auto online = cpus_of(m.text(kCpus + "online"));
  for (const unsigned c : w.lcores)
    if (!online.empty() && !holds(online, c))
      out.push_back({"cpu-online", Severity::kStops,
                     "CPU " + std::to_string(c) +
                         " of the file's lcores is not online: a worker "
                         "cannot run there",
                     "echo 1 > /sys/devices/system/cpu/cpu" + std::to_string(c) +
                         "/online, or change lcores in the file"});
}

// A polling worker that shares its CPU is held up by the scheduler's tick and by other programs.
void check_isolated(const Machine& m, const Wanted& w, Findings& out) {
  for (const auto& [file, parameter] :
       {std::pair{"isolated", "isolcpus"}, {"nohz_full", "nohz_full"}}) {
    const auto set = cpus_of(m.text(kCpus + file));
    std::vector<unsigned> missing;
    for (const unsigned c : w.lcores)
      if (!holds(set, c)) missing.push_back(c);
    if (missing.empty()) continue;
    const bool isolated = std::string_view(file) == "isolated";
    out.push_back({isolated ? "cpu-isolated" : "cpu-tick",
                   w.polls() ? Severity::kHarms : Severity::kNote,
                   "CPU " + text_of(missing) +
                       (isolated ? " is not isolated: other programs may run on a worker's CPU, "
                                   "and packets wait meanwhile"
                                 : " has a scheduler's tick: it interrupts a worker up to 1,000 "
                                   "times a second"),
                   "add " + std::string(parameter) + "=" + text_of(w.lcores) +
                       " to GRUB_CMDLINE_LINUX in /etc/default/grub; update-grub; reboot"});
  }
}

void check_siblings(const Machine& m, const Wanted& w, Findings& out) {
  for (const unsigned c : w.lcores)
    for (const unsigned s :
         cpus_of(m.text(kCpus + "cpu" + std::to_string(c) + "/topology/thread_siblings_list")))
      if (s > c && holds(w.lcores, s))
        out.push_back({"cpu-siblings", Severity::kHarms,
                       "lcores " + std::to_string(c) + " and " + std::to_string(s) +
                           " are threads of one core: two workers share its units, and each takes "
                           "longer for a packet",
                       "choose one CPU of each core for lcores in the file (lscpu -e)"});
}

void check_governor(const Machine& m, const Wanted& w, Findings& out) {
  for (const unsigned c : w.lcores) {
    const std::string g = m.text(kCpus + "cpu" + std::to_string(c) + "/cpufreq/scaling_governor");
    if (g.empty() || g == "performance") continue;
    out.push_back({"cpu-governor", w.polls() ? Severity::kHarms : Severity::kNote,
                   "CPU " + std::to_string(c) + " has the frequency governor " + g +
                       ": it is slow when a burst begins",
                   "cpupower -c " + text_of(w.lcores) + " frequency-set -g performance"});
    return;
  }
}

void check_clock(const Machine& m, Findings& out) {
  const std::string source =
      m.text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!source.empty() && source != "tsc" && source != "kvm-clock" &&
      source != "hyperv_clocksource_tsc_page")
    out.push_back({"clock-source", Severity::kHarms,
                   "the kernel's clock is " + source +
                       ": it does not trust the time stamp counter, by which the router paces",
                   "dmesg | grep -i tsc; if the counter is sound: tsc=reliable on the kernel's "
                   "command line"});
  const std::string info = m.text("/proc/cpuinfo");
  for (const char* flag : {"constant_tsc", "nonstop_tsc"})
    if (info.find("\nflags") != std::string::npos && info.find(flag) == std::string::npos)
      out.push_back({"clock-tsc", Severity::kNote,
                     std::string("the CPU has no ") + flag +
                         ": rates and prices are off when its frequency changes",
                     "on a virtual machine: let the hypervisor pass invtsc"});
}

// The quota of the process's control group and the groups above it.
void check_quota(const Machine& m, const Wanted& w, Findings& out) {
  std::istringstream groups(m.text("/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) continue;
    for (std::string path = line.substr(3);;) {
      const std::string file =
          "/sys/fs/cgroup" + path + (path.ends_with('/') ? "" : "/") + "cpu.max";
      double quota = 0, period = 0;
      std::istringstream max(m.text(file));
      const double needed = static_cast<double>(std::max<size_t>(w.lcores.size(), 1));
      if (max >> quota >> period && period > 0 && quota / period < needed) {
        char share[32];
        std::snprintf(share, sizeof share, "%.2g", quota / period);
        out.push_back({"cpu-quota", Severity::kHarms,
                       "the control group allows " + std::string(share) +
                           " CPUs, and the workers take " +
                           std::to_string(static_cast<int>(needed)) +
                           ": they are stopped for tens of milliseconds at a time",
                       "systemctl set-property UNIT CPUQuota=  (or docker run without --cpus)"});
        return;
      }
      if (path.size() <= 1) break;
      path.resize(path.find_last_of('/'));
    }
  }
}

}  // namespace

void check_cpus(const Machine& m, const Wanted& w, Findings& out) {
  check_online(m, w, out);
  check_isolated(m, w, out);
  check_siblings(m, w, out);
  check_governor(m, w, out);
  check_clock(m, out);
  check_quota(m, w, out);
}

}  // namespace turnpike::ops
