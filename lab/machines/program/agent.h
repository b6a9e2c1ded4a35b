// SPDX-License-Identifier: BSD-3-Clause
// `turnpike agent`: runs nodes on a machine for a coordinator, over standard input and output.
#pragma once

#include "common/config/exit_codes.h"

namespace turnpike::lab {

/// Answers requests, each a line of JSON with one of these keys, until the input ends:
///
///     {"clock":true}              {"clock":NS,"synchronized":BOOL}: UNIX time, and whether the
///                                 kernel calls its clock synchronized
///     {"put":PATH,"text":TEXT}    adds to a file of the agent's folder
///     {"play":FILE,"routers":[NAME],"hosts":[NAME],"router_options":[TEXT],
///      "sender_options":[TEXT]}   starts a process per router, in that order, then one for the
///                                 hosts, if there are any
///     {"start":NS}                the start of the run, UNIX time of this machine, for the sender
///     {"signal":N,"to":"sender"}  or "routers"
///     {"fetch":true}              {"file":PATH,"text":TEXT} as often as it takes for all files of
///                                 results and logs, then {"fetched":true}
///
/// Writes {"hello":VERSION} first; {"process":I,"line":TEXT} for each line of a process's output;
/// {"ended":I,"code":N,"log":TEXT} when it has ended, with the end of its log; {"failed":TEXT} for
/// a request that it cannot serve. Processes: counted from 0 in the order of their start. Results
/// are below results/: routers/NAME/ and hosts/; logs are NAME.log and sender.log. When the input
/// ends, or on a signal, all processes end, and its folder is removed.
ExitCode serve_coordinator();

}  // namespace turnpike::lab
