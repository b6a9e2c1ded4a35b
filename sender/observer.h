// SPDX-License-Identifier: BSD-3-Clause
// Copies senders' counters into the record of a run. Any thread may call it.
#pragma once

#include <span>

#include "sender/results/recorder.h"
#include "sender/sender.h"

namespace turnpike::sender {

/// Records one sample of all hosts and flow groups of these senders.
void observe(std::span<Sender* const> senders, Nanos now, const config::Topology& topology,
             Recorder& recorder);

/// Records percentiles of RTTs and queueing delays. Call once the senders have stopped sending.
void observe_delays(std::span<Sender* const> senders, Recorder& recorder);

/// Records started flows and exhausted resources of every host. Call after Sender::stop().
void observe_limits(std::span<Sender* const> senders, Recorder& recorder);

/// Records every stream's totals. `end`: when senders were stopped. Call once no packet is under
/// way.
void observe_streams(std::span<Sender* const> senders, Nanos end, const config::Topology& topology,
                     Recorder& recorder);

}  // namespace turnpike::sender
