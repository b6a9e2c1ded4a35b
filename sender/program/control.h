// SPDX-License-Identifier: BSD-3-Clause
// Runs on the control thread: samples the lcores' totals, shows them, and writes the results.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <unistd.h>

#include "common/config/topology.h"
#include "common/metrics/nonblocking_output.h"
#include "common/report/live.h"
#include "sender/program/lcore_runner.h"
#include "sender/program/live_streams.h"
#include "sender/results/live.h"
#include "sender/results/recorder.h"

namespace turnpike::sender {

class Control {
 public:
  Control(const config::Topology& topology, std::span<const std::unique_ptr<LcoreRunner>> runners,
          report::LiveStyle style)
      : topology_(topology),
        runners_(runners),
        recorder_(topology, topology.run.output),
        streams_(topology),
        output_(STDOUT_FILENO),
        live_(style, output_) {
    for (const auto& runner : runners) senders_.push_back(&runner->sender());
  }

  /// Reads every total once, records and shows it.
  void sample(Nanos now);
  /// Records outcomes from the lcores' rings.
  void collect();
  /// Records delays, limits, streams and remaining outcomes. Call once the lcores have stopped;
  /// `end`: the time of the stop command.
  void conclude(Nanos end);
  /// Writes the results; the error names the file.
  tl::expected<void, std::string> write(const std::string& folder, const RunEnd& end) const {
    return recorder_.write(folder, end);
  }

  /// Busy share of each lcore, and its stalls.
  [[nodiscard]] std::vector<LcoreReading> lcores() const;
  /// Lines on exhausted limits, streams, and whether shares were as entitled. summary.json has the
  /// full figures.
  [[nodiscard]] std::string verdict_text(const RunEnd& end) const;

  [[nodiscard]] const Recorder& recorder() const { return recorder_; }

 private:
  const config::Topology& topology_;
  std::span<const std::unique_ptr<LcoreRunner>> runners_;
  std::vector<Sender*> senders_;
  Recorder recorder_;
  LiveStreams streams_;
  metrics::NonBlockingOutput output_;  // standard output
  report::Live live_;
};

/// Counters of a run in a few lines: packets sent, lost, refused.
std::string counters_text(const config::Topology& topology,
                          std::span<const std::unique_ptr<LcoreRunner>> runners);

}  // namespace turnpike::sender
