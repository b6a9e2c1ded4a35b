// SPDX-License-Identifier: BSD-3-Clause
// Reads what senders count into the record of a run; from any thread, on any clock.
#pragma once

#include <span>

#include "sender/results/recorder.h"
#include "sender/sender.h"

namespace turnpike::sender {

/// One sample of all hosts and flow groups that these senders play.
void observe(std::span<Sender* const> senders, Nanos now, const config::Topology& topology,
             Recorder& recorder);

/// Percentiles of round trips and queueing; once nothing is sent any more.
void observe_delays(std::span<Sender* const> senders, Recorder& recorder);

/// What was started and what ran out at every host; once senders have been stopped.
void observe_limits(std::span<Sender* const> senders, Recorder& recorder);

/// What became of every stream, `end` being when senders were stopped; once nothing is under way.
void observe_streams(std::span<Sender* const> senders, Nanos end, const config::Topology& topology,
                     Recorder& recorder);

}  // namespace turnpike::sender
