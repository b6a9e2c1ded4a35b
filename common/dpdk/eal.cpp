// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/eal.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include <rte_eal.h>
#include <rte_errno.h>
#include <sched.h>
#include <unistd.h>

#include "common/dpdk/dpdk_log.h"
#include "common/dpdk/interrupt_thread.h"
#include "common/dpdk/panic.h"

namespace turnpike {

namespace {

constexpr std::string_view kHugepagesFix =
    "reserve some (as root: dpdk-hugepages.py --setup 2G) or run without hugepages";

/// MB in free hugepages of all sizes.
uint64_t free_hugepages_mb() {
  constexpr std::string_view kPrefix = "hugepages-";  // hugepages-2048kB
  std::error_code error;
  uint64_t kilobytes = 0;
  for (const auto& size : std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", error)) {
    uint64_t n = 0;
    std::ifstream(size.path() / "free_hugepages") >> n;
    const std::string name = size.path().filename();
    if (name.starts_with(kPrefix))
      kilobytes += n * std::strtoull(name.c_str() + kPrefix.size(), nullptr, 10);
  }
  return kilobytes >> 10;
}

std::string join(std::span<const unsigned> numbers) {
  std::string text;
  for (const unsigned n : numbers) text += (text.empty() ? "" : ",") + std::to_string(n);
  return text;
}

/// A reason, found before the start, for which EAL cannot start; empty: none.
std::string obstacle(const EalOptions& options, std::span<const unsigned> cpus) {
  for (const unsigned cpu : options.workers) {
    if (std::ranges::find(cpus, cpu) == cpus.end()) {
      return "CPU " + std::to_string(cpu) +
             " is not available to this process; available: " + join(cpus);
    }
  }
  const bool overruled = std::ranges::find(options.extra, "--no-huge") != options.extra.end();
  if (options.hugepages && !overruled && free_hugepages_mb() == 0) {
    return "no free hugepages; " + std::string(kHugepagesFix);
  }
  const uint64_t machine_mb = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                  static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) >>
                              20;
  if (!options.hugepages && options.memory_mb > machine_mb) {
    return "not enough memory: the topology needs " + std::to_string(options.memory_mb) +
           " MB, and this machine has " + std::to_string(machine_mb) + " MB";
  }
  return {};
}

std::string memory_fix(const EalOptions& options) {
  if (options.hugepages) return " (" + std::string(kHugepagesFix) + ")";
  return " (not enough memory: DPDK asks for " + std::to_string(options.memory_mb) +
         " MB beside its libraries; the machine or a limit of this process, which ulimit -v shows, "
         "has less)";
}

/// Whether a failure was for lack of memory. DPDK reports some of these as invalid arguments, for
/// instance where a driver's library could not be mapped.
bool wants_memory(int error, const std::string& log) {
  constexpr std::string_view kSigns[] = {"failed to map segment", "annot allocate",
                                         "Cannot init memory"};
  return error == ENOMEM || std::ranges::any_of(kSigns, [&](std::string_view sign) {
           return log.find(sign) != std::string::npos;
         });
}

std::string explain(int error, const std::string& log, const EalOptions& options) {
  std::string text = "DPDK did not start: " + (log.empty() ? rte_strerror(error) : log);
  if (wants_memory(error, log)) return text + memory_fix(options);
  // EAL panics, which is EAGAIN here, where it can create no thread or get no memory.
  if (error == EAGAIN || log.find("create thread") != std::string::npos ||
      log.find("Create thread") != std::string::npos)
    return text +
           " (not enough memory, or too many threads: limits of this process, which ulimit "
           "-v and -u show, or of its control group)";
  switch (error) {
    case EACCES:
    case EPERM:
      return text + " (run as root, or with CAP_IPC_LOCK, CAP_NET_RAW and CAP_SYS_NICE)";
    case EINVAL:
      return text + " (one of the EAL arguments is wrong; they stand after --)";
    default:
      return text;
  }
}

/// Calls rte_eal_init(). The reason of a failure; empty: success. `log`: DPDK's log lines, if kept.
std::string init(std::vector<char*>& argv, const EalOptions& options, const CapturedLog* log) {
  struct Call {
    std::vector<char*>& argv;
    int result = 0;
  } call{argv};
  const std::string panic = panic_in(
      [](void* argument) {
        auto& c = *static_cast<Call*>(argument);
        c.result = rte_eal_init(static_cast<int>(c.argv.size()), c.argv.data());
      },
      &call);
  if (!panic.empty()) return explain(EAGAIN, panic, options);
  if (call.result < 0) return explain(rte_errno, log != nullptr ? log->text() : "", options);
  return {};
}

}  // namespace

std::string hugepage_hint(uint64_t free_mb, unsigned needed_mb) {
  if (free_mb >= needed_mb) return "";
  return " (free hugepages have " + std::to_string(free_mb) + " MB, and the topology needs about " +
         std::to_string(needed_mb) + " MB; " + std::string(kHugepagesFix) + ")";
}

std::vector<unsigned> available_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (unsigned i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) cpus.push_back(i);
  }
  return cpus;
}

std::vector<std::string> eal_arguments(const EalOptions& options, std::span<const unsigned> cpus) {
  std::vector<std::string> args = {options.program};
  std::string lcores = "0@(" + join(cpus) + ")";
  for (unsigned i = 0; i < options.workers.size(); ++i) {
    lcores += "," + std::to_string(Eal::worker_lcore(i)) + "@" + std::to_string(options.workers[i]);
  }
  args.insert(args.end(), {"--lcores", lcores, "--main-lcore", "0"});
  if (options.hugepages) {
    args.emplace_back("--in-memory");  // no files in hugetlbfs, so it need not be mounted
  } else {
    // EAL refuses --in-memory together with --no-huge; --no-shconf keeps its files away instead.
    args.insert(args.end(), {"--no-huge", "-m", std::to_string(options.memory_mb), "--no-shconf"});
  }
  args.insert(args.end(), {"--no-telemetry", "--file-prefix", options.file_prefix});
  if (options.pci.empty()) args.emplace_back("--no-pci");
  for (const std::string& address : options.pci) args.insert(args.end(), {"-a", address});
  if (!options.show_log) args.emplace_back("--log-level=*:error");
  args.insert(args.end(), options.extra.begin(), options.extra.end());
  return args;
}

tl::expected<Eal, std::string> Eal::start(const EalOptions& options) {
  const std::vector<unsigned> cpus = available_cpus();
  if (std::string text = obstacle(options, cpus); !text.empty()) return tl::unexpected(text);
  static std::atomic<bool> started{false};
  if (started.exchange(true))
    return tl::unexpected(std::string("DPDK can be started only once per process"));

  // EAL keeps pointers into the vector and reorders it: both live as long as the process.
  static std::vector<std::string> args;
  static std::vector<char*> argv;
  args = eal_arguments(options, cpus);
  argv.reserve(args.size());
  for (std::string& a : args) argv.push_back(a.data());

  const std::string hint =
      options.hugepages ? hugepage_hint(free_hugepages_mb(), options.memory_mb) : "";
  std::optional<CapturedLog> log;
  if (options.show_log)
    install_dpdk_log();
  else
    log.emplace();
  if (std::string why = init(argv, options, log ? &*log : nullptr); !why.empty())
    return tl::unexpected(std::move(why));
  return Eal(hint);
}

Eal::~Eal() {
  if (!up_) return;
  // rte_eal_cleanup() unmaps DPDK's memory, which the interrupt thread would go on to use.
  park_interrupt_thread();
  rte_eal_cleanup();
}

}  // namespace turnpike
