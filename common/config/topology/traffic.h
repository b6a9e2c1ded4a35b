// SPDX-License-Identifier: BSD-3-Clause
// Flows, and workloads of finite flows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/protocols/param.h"
#include "common/units/units.h"

namespace turnpike::config {

inline constexpr uint64_t kEndless = UINT64_MAX;
inline constexpr size_t kNoTree = SIZE_MAX;

struct Flow {
  std::string name;
  size_t from = 0, to = 0;  // hosts; of a flow to a tree, `to` is its first receiver
  std::string protocol = "fcp";
  ParamValues params;
  unsigned ip_version = 4;
  Nanos start{0};
  Nanos stop = kNever;
  uint64_t size = kEndless;    // payload bytes to deliver
  double share = 1;            // weight within its host's budget
  Bytes packet{1500};          // IP datagram of a full packet
  bool count_packets = false;  // `size` counts IP datagrams, not their payload
  BitRate limit{0};            // rate limit of the application; 0: none
  unsigned count = 1;          // number of such flows
  bool background = false;
  unsigned dscp = 0;
  BitRate hold{0};        // strategy `stability`: rate to hold; 0: none
  size_t tree = kNoTree;  // index into Topology::trees if it sends to all receivers of a tree
};

struct FixedSize {
  Bytes size;
};
struct ParetoSize {
  Bytes mean;  // of drawn sizes, after clipping to the cap
  double shape = 1.2;
  Bytes cap{0};  // upper bound of drawn sizes; 0: none
};
struct ExponentialSize {
  Bytes mean;
};
/// Times in s and sizes in B from a CSV file, for arrivals and sizes.
struct TraceSize {
  std::string file;
};
using SizeDistribution = std::variant<FixedSize, ParetoSize, ExponentialSize, TraceSize>;

struct PoissonArrivals {
  double per_second = 0;
};
struct PeriodicArrivals {
  double per_second = 0;
};
/// Independent times between arrivals, each as likely as any other between `least` and `most`.
struct UniformArrivals {
  Nanos least{0}, most{0};
};
struct TraceArrivals {};
using Arrivals = std::variant<PoissonArrivals, PeriodicArrivals, UniformArrivals, TraceArrivals>;

/// A stream of finite flows.
struct Workload {
  std::string name;
  std::vector<size_t> from, to;  // each arrival draws one of each, uniformly
  std::string protocol = "fcp";
  ParamValues params;
  unsigned ip_version = 4;
  Nanos start{0};
  Nanos stop = kNever;
  Arrivals arrivals;
  SizeDistribution size;
  Nanos on{0}, off{0};  // arrivals only in the on part of an on/off cycle; 0: always on
  Bytes packet{1500};
  bool count_packets = false;
  BitRate limit{0};
  unsigned dscp = 0;
};

}  // namespace turnpike::config
