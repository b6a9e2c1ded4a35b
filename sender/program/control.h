// SPDX-License-Identifier: BSD-3-Clause
// The control thread's part: samples the lcores' totals, shows them, and writes the results.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/config/topology.h"
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
        live_(style, stdout) {
    for (const auto& runner : runners) senders_.push_back(&runner->sender());
  }

  /// Reads every total once and shows it.
  void sample(Nanos now);
  /// Takes over the outcomes that have come in.
  void collect();
  /// Once the lcores have stopped, which they were told at `end`: delays, and what went wrong that
  /// a reader should know.
  void conclude(Nanos end);
  /// Writes the folder; the error says which file.
  tl::expected<void, std::string> write(const std::string& folder, const RunEnd& end) const {
    return recorder_.write(folder, end);
  }

  /// How busy each lcore was.
  [[nodiscard]] std::vector<LcoreReading> lcores() const;
  /// Whether shares were as entitled, in a line, and what became of streams; the full figures are
  /// in summary.json.
  [[nodiscard]] std::string verdict_text(const RunEnd& end) const;

  [[nodiscard]] const Recorder& recorder() const { return recorder_; }

 private:
  const config::Topology& topology_;
  std::span<const std::unique_ptr<LcoreRunner>> runners_;
  std::vector<Sender*> senders_;
  Recorder recorder_;
  LiveStreams streams_;
  report::Live live_;
};

/// The counters of a run in a few lines: what was sent, lost, refused.
std::string counters_text(const config::Topology& topology,
                          std::span<const std::unique_ptr<LcoreRunner>> runners);

}  // namespace turnpike::sender
