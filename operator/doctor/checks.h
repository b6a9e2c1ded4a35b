// SPDX-License-Identifier: BSD-3-Clause
// The checks of `turnpike doctor`: faults of a machine for the routers of a topology file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/topology.h"
#include "operator/doctor/machine.h"

namespace turnpike::ops {

enum class Severity : uint8_t {
  kStops,  // the router does not start, or does not forward
  kHarms,  // it loses packets, or time
  kNote,   // worth knowing
};
std::string_view name_of(Severity severity);

struct Finding {
  std::string check;  // a word, the same in each version
  Severity severity = Severity::kNote;
  std::string text;  // what it is and what it means
  std::string mend;  // the command, or the setting; empty: none
};

/// The needs of the routers of a file on this machine.
struct Wanted {
  struct Interface {
    std::string name, link;
    unsigned mtu = 0;
    bool af_packet = false;  // else af_xdp
  };
  /// Of the routers whose control plane is Linux.
  struct Linux {
    std::vector<std::string> interfaces;  // which they make
    uint64_t neighbours = 0;              // addresses of the links' IPv4 subnets
    bool elsewhere = false;               // in a network namespace of their own
    bool punt_ttl = false;                // Linux answers packets with an expired TTL
  };
  std::vector<unsigned> lcores;
  std::vector<std::string> pci;  // addresses
  std::vector<Interface> interfaces;
  bool tap = false;
  std::optional<Linux> linux_control;

  /// Whether its lcores poll NICs without sleep.
  [[nodiscard]] bool polls() const { return !pci.empty(); }
};
/// Of all routers of the topology.
Wanted wanted_of(const config::Topology& topology);

using Findings = std::vector<Finding>;

// Each appends what it finds, and nothing where all is well.
void check_cpus(const Machine& machine, const Wanted& wanted, Findings& out);
void check_memory(const Machine& machine, const Wanted& wanted, Findings& out);
void check_nics(const Machine& machine, const Wanted& wanted, Findings& out);
void check_kernel(const Machine& machine, const Wanted& wanted, Findings& out);
void check_linux(const Machine& machine, const Wanted& wanted, Findings& out);

/// Whether this process has a capability (CAP_IPC_LOCK, ...); true: unknown.
bool has_capability(const Machine& machine, unsigned number);

/// All checks, the gravest findings first.
Findings examine(const Machine& machine, const Wanted& wanted);

/// Whether there is something that stops or harms.
bool ill(const Findings& findings);

}  // namespace turnpike::ops
