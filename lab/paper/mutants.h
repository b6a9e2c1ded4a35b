// SPDX-License-Identifier: BSD-3-Clause
// Deliberate mistakes in runs, which show that an experiment's checks can fail.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "lab/paper/claims.h"

namespace turnpike::lab {

/// In the order in which they are played: another scheme breaks most checks; of the others, those
/// with few packets come first. kScheme: links that have a law and all traffic run TCP instead, or
/// XCP if they run TCP. Where a law's operations are counted, FCP runs and is counted instead, or
/// XCP instead of FCP, and packets come one by one. kOwn: RunSpec::mistake, for checks that none of
/// the others can break; runs without one are left out. Where a law's operations are counted, its
/// making counts as well.
enum class Mutation : uint8_t {
  kScheme,
  kLimit,
  kSomeLimit,
  kOwn,
  kAccess,
  kSomeAccess,
  kRate,
  kDelay,
  kBuffer,
  kFast
};

inline constexpr std::array<std::string_view, 10> kMutations{
    "another scheme",
    "applications that send 10 kbit/s",
    "every other application sends 10 kbit/s",
    "the mistake that the index names for the run",
    "a hundredth of the rate of links without a law",
    "a hundredth of the rate of every other link without a law",
    "half the rate of all links",
    "twice the delay of all links",
    "a tenth of the buffer of all links",
    "ten times the rate of all links",
};

/// The settings of a run with the mutation; or the mistakes of its file.
tl::expected<std::vector<config::Setting>, std::vector<config::Mistake>> mutated(const RunSpec& run,
                                                                                 Mutation mutation);

/// The law whose operations are counted in a run with the mutation; empty: none.
std::string counted_law(const RunSpec& run, Mutation mutation);

/// The folder below `out` that has the results of runs with the mutation.
std::string mutants_folder(const std::string& out, Mutation mutation);

/// Indices of the runs, to which the mutation applies, that checks read which are met and which
/// nothing has broken: all of them, or of each check the one that took the least time, if `seconds`
/// has the runs' times.
std::set<size_t> runs_to_mutate(const Experiment& experiment, Mutation mutation,
                                const Evaluation& evaluation, const std::vector<double>& seconds);

/// Sets `broken_by` of each check that is met and that these runs with the mutation break: the
/// check's metric, or the one that it is compared with, takes the results of the runs' first seeds
/// from the mutation's folder. A value that cannot be computed breaks nothing. `out` has the
/// results of the right runs, `right` their metrics.
void break_checks(const Experiment& experiment, const Metrics& right, const std::string& out,
                  const std::set<size_t>& runs, Mutation mutation, Evaluation& evaluation);
/// The same for figures of files, multiplied by 10 and by 0.1.
void break_file_checks(const Experiment& experiment, const Metrics& right, const std::string& out,
                       Evaluation& evaluation);

}  // namespace turnpike::lab
