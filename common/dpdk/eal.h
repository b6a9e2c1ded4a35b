// SPDX-License-Identifier: BSD-3-Clause
// DPDK's environment abstraction layer as an object, started from options of a topology.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace turnpike {

struct EalOptions {
  std::string program = "turnpike";
  std::vector<unsigned> workers = {};  // the CPU of each worker thread
  bool hugepages = false;    // false: ordinary memory, which needs no set-up and no privilege
  unsigned memory_mb = 256;  // total without hugepages; with them DPDK allocates as needed
  std::vector<std::string> pci = {};  // addresses of NICs to use; empty: no PCI scan
  std::string file_prefix = "turnpike";
  bool show_log = false;                // DPDK's own messages below errors
  std::vector<std::string> extra = {};  // the user's EAL arguments; the last ones take effect
};

/// EAL's argument vector for these options. Lcore 0, the main lcore, does control work on any of
/// `cpus`; worker i is lcore i + 1, pinned to its CPU.
std::vector<std::string> eal_arguments(const EalOptions& options, std::span<const unsigned> cpus);

/// A text with the way out, to append to an error: `free_mb` in free hugepages is less than the
/// program needs. Empty: it is not.
std::string hugepage_hint(uint64_t free_mb, unsigned needed_mb);

/// CPUs that this process may run on.
std::vector<unsigned> available_cpus();

/// EAL, running from start() to destruction. All DPDK objects must have been freed by then. At most
/// one in the life of a process: EAL cannot be started again.
class Eal {
 public:
  /// The error has the missing resource of this host and the command that provides it.
  static tl::expected<Eal, std::string> start(const EalOptions& options);

  Eal(Eal&& other) noexcept
      : up_(std::exchange(other.up_, false)), memory_hint_(std::move(other.memory_hint_)) {}
  Eal& operator=(Eal&&) = delete;
  ~Eal();

  /// hugepage_hint() of the time before the start, for errors of objects made later; empty without
  /// hugepages.
  [[nodiscard]] const std::string& memory_hint() const { return memory_hint_; }

  /// The lcore of the i-th of EalOptions::workers.
  static constexpr unsigned worker_lcore(unsigned i) { return i + 1; }

 private:
  explicit Eal(std::string hint) : memory_hint_(std::move(hint)) {}
  bool up_ = true;
  std::string memory_hint_;
};

}  // namespace turnpike
