// SPDX-License-Identifier: BSD-3-Clause
// The platform that a program runs on, as JSON for its results: the machine, its CPUs, its ports.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "common/dpdk/port_facts.h"

namespace turnpike {

/// Facts of the machine that figures depend on: "cpu", "cpus", "numa_nodes", "smt", "governors",
/// "product", "bios", "kernel", "command_line" (its parameters for CPUs, memory, interrupts and
/// IOMMU), "isolated" and "nohz_full" CPUs, "hugepages" by size. Names of the machine and of its
/// users are left out. Facts that cannot be read are absent. `root`: the folder of proc/ and sys/.
nlohmann::ordered_json machine_json(const std::string& root = "");

/// Facts of a CPU: "lcore", "numa_node", "siblings", "governor", "isolated".
nlohmann::ordered_json cpu_json(unsigned cpu, const std::string& root = "");

/// Facts of a port, with "warnings" if there are any.
nlohmann::ordered_json port_json(const PortFacts& facts);

/// Facts of a program: "dpdk", "tsc_hz", "machine", and "lcores" in the order of its workers. Call
/// it before a sandbox closes /sys.
nlohmann::ordered_json platform_json(std::span<const unsigned> lcores);

/// The file in a program's folder of results that has its platform_json(), with figures of its
/// lcores and with its "ports" by name. `program`: such as "router-gate".
std::string platform_file(const std::string& program);

}  // namespace turnpike
