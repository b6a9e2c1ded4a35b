// SPDX-License-Identifier: BSD-3-Clause
// DPDK's environment layer as an object: started from options that a topology yields.
#pragma once

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
  unsigned memory_mb = 256;  // all there is without hugepages; with them DPDK takes as needed
  std::vector<std::string> pci = {};  // addresses of NICs to take; none: the bus is left alone
  std::string file_prefix = "turnpike";
  bool show_log = false;                // DPDK's own messages below errors
  std::vector<std::string> extra = {};  // the user's EAL arguments; they come last and so win
};

/// EAL's argument vector for these options. The main lcore, number 0, does control work and may
/// run on any of `cpus`; worker i is lcore i + 1 and pinned to its CPU.
std::vector<std::string> eal_arguments(const EalOptions& options, std::span<const unsigned> cpus);

/// CPUs that this process may run on.
std::vector<unsigned> available_cpus();

/// The environment layer, up from start() to destruction. Everything of DPDK's must have been
/// given back by then. A process has one in its life: EAL cannot be started again.
class Eal {
 public:
  /// The error says what is missing on this host and the command that provides it.
  static tl::expected<Eal, std::string> start(const EalOptions& options);

  Eal(Eal&& other) noexcept : up_(std::exchange(other.up_, false)) {}
  Eal& operator=(Eal&&) = delete;
  ~Eal();

  /// The lcore of the i-th of EalOptions::workers.
  static constexpr unsigned worker_lcore(unsigned i) { return i + 1; }

 private:
  Eal() = default;
  bool up_ = true;
};

}  // namespace turnpike
