// SPDX-License-Identifier: BSD-3-Clause
// A record of a run as a file, for a program that joins the records of several senders.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "sender/results/record.h"

namespace turnpike::sender {

/// The record of one sender, and the state at its end.
struct RecordedRun {
  Record record;
  RunEnd end;
};

/// Writes record.jsonl into `folder`: lines of JSON, one for the end, then one each per sample,
/// outcome, host with delays, and stream. The error names the file and the reason.
tl::expected<void, std::string> write_record(const Record& record, const RunEnd& end,
                                             const std::string& folder);

/// Reads the text of a record.jsonl. `folder`: of the temporary file of OutcomeLog. The error: a
/// line that is none of this topology's records.
tl::expected<RecordedRun, std::string> read_record(std::string_view text,
                                                   const config::Topology& topology,
                                                   const std::string& folder = ".");

}  // namespace turnpike::sender
