// SPDX-License-Identifier: BSD-3-Clause
// The loads that forwarding is measured under, by name.
#pragma once

#include "bench/forwarding.h"

namespace turnpike::bench {

struct Named {
  const char* name;
  Load load;
};

inline constexpr Named kLoads[] = {
    {"ipv4", {.traffic = Traffic::kIpv4}},
    {"ipv4/burst:8", {.traffic = Traffic::kIpv4, .burst = 8}},
    {"ipv4/burst:1", {.traffic = Traffic::kIpv4, .burst = 1}},
    {"ipv4/capture:1000", {.traffic = Traffic::kIpv4, .capture = 1000}},
    {"ipv4/capture:1", {.traffic = Traffic::kIpv4, .capture = 1}},
    {"ipv4/flows:1000", {.traffic = Traffic::kIpv4, .flows = 1000}},
    {"ipv4/flows:100000", {.traffic = Traffic::kIpv4, .flows = 100'000}},
    {"ipv4/prepared:100000", {.traffic = Traffic::kIpv4, .prepared = 100'000}},
    {"ipv4/routes:1000", {.traffic = Traffic::kIpv4, .flows = 1000, .routes = 1000}},
    {"ipv4/routes:1000000", {.traffic = Traffic::kIpv4, .flows = 100'000, .routes = 1'000'000}},
    {"ipv4/fib", {.traffic = Traffic::kIpv4, .fib = true}},
    {"ipv4/links:16", {.traffic = Traffic::kIpv4, .links = 16}},
    {"ipv4/links:256", {.traffic = Traffic::kIpv4, .links = 256}},
    {"ipv6", {.traffic = Traffic::kIpv6, .frame = 80}},
    {"ipv6/routes:100000",
     {.traffic = Traffic::kIpv6, .flows = 100'000, .routes = 100'000, .frame = 80}},
    {"ipv6/fib", {.traffic = Traffic::kIpv6, .frame = 80, .fib = true}},
    {"fcp", {.traffic = Traffic::kFcp, .flows = 64}},
    {"priced", {.traffic = Traffic::kPriced, .flows = 64}},
    {"priced/fib", {.traffic = Traffic::kPriced, .flows = 64, .fib = true}},
    {"priced/burst:8", {.traffic = Traffic::kPriced, .burst = 8, .flows = 64}},
    {"priced/burst:1", {.traffic = Traffic::kPriced, .burst = 1, .flows = 64}},
    {"priced/flows:100000", {.traffic = Traffic::kPriced, .flows = 100'000}},
    {"priced/prepared:100000", {.traffic = Traffic::kPriced, .flows = 64, .prepared = 100'000}},
    // As many packets as 64 flows from each of 256 links.
    {"priced/prepared:8192", {.traffic = Traffic::kPriced, .flows = 64, .prepared = 8192}},
    {"priced/capture:1000", {.traffic = Traffic::kPriced, .flows = 64, .capture = 1000}},
    {"priced/capture:1", {.traffic = Traffic::kPriced, .flows = 64, .capture = 1}},
    // All checks, and some of them.
    {"priced/customers:1",
     {.traffic = Traffic::kPriced, .flows = 64, .customers = 1, .audit = true}},
    {"priced/customers:1000000",
     {.traffic = Traffic::kPriced, .flows = 100'000, .customers = 1'000'000, .audit = true}},
    {"priced/budget:1", {.traffic = Traffic::kPriced, .flows = 64, .customers = 1}},
    {"priced/budget:1000000",
     {.traffic = Traffic::kPriced, .flows = 100'000, .customers = 1'000'000}},
    {"priced/audit", {.traffic = Traffic::kPriced, .flows = 64, .audit = true}},
    {"priced/audit:100000", {.traffic = Traffic::kPriced, .flows = 100'000, .audit = true}},
    {"priced/strict", {.traffic = Traffic::kPriced, .flows = 64, .strict = true}},
    {"priced/strict:100000", {.traffic = Traffic::kPriced, .flows = 100'000, .strict = true}},
    {"unpriced/flows:100000", {.traffic = Traffic::kUnpriced, .flows = 100'000}},
    {"unpriced/customers:1000000",
     {.traffic = Traffic::kUnpriced, .flows = 100'000, .customers = 1'000'000}},
    {"priced/shaped", {.traffic = Traffic::kPriced, .flows = 64, .shaped = true}},
    {"priced/class:standard",
     {.traffic = Traffic::kPriced, .flows = 64, .shaped = true, .policy = "standard"}},
    {"priced/class:stability",
     {.traffic = Traffic::kPriced, .flows = 64, .shaped = true, .policy = "stability"}},
    {"priced/class:deadline",
     {.traffic = Traffic::kPriced,
      .flows = 64,
      .shaped = true,
      .policy = "{deadline: {cap: 90 Gbps, price: 0.000000001 $/B}}"}},
    {"priced/class:priority",
     {.traffic = Traffic::kPriced,
      .flows = 64,
      .shaped = true,
      .policy = "{priority: {factor: 10}}"}},
    {"priced/class:legacy",
     {.traffic = Traffic::kPriced,
      .flows = 64,
      .shaped = true,
      .policy = "{legacy: {share: 0.6}}"}},
    {"priced/groups:1",
     {.traffic = Traffic::kPriced, .flows = 1000, .customers = 1000, .groups = 1}},
    {"priced/groups:1000",
     {.traffic = Traffic::kPriced, .flows = 1000, .customers = 1000, .groups = 1000}},
    // The same frame of 1000 B, forwarded once and copied.
    {"priced/frame:1000", {.traffic = Traffic::kPriced, .flows = 64, .frame = 1000}},
    {"tree/branches:1", {.traffic = Traffic::kTree, .flows = 64, .links = 2, .frame = 1000}},
    {"tree/branches:2", {.traffic = Traffic::kTree, .flows = 64, .links = 3, .frame = 1000}},
    {"tree/branches:8", {.traffic = Traffic::kTree, .flows = 64, .links = 9, .frame = 1000}},
    {"priced/links:16", {.traffic = Traffic::kPriced, .flows = 64, .links = 16}},
    {"priced/links:256", {.traffic = Traffic::kPriced, .flows = 64, .links = 256}},
};

}  // namespace turnpike::bench
