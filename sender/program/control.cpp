// SPDX-License-Identifier: BSD-3-Clause
#include "sender/program/control.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "common/report/run_limits.h"
#include "sender/observer.h"
#include "sender/results/streams.h"

namespace turnpike::sender {
namespace {

struct NamedCounter {
  const char* name;
  metrics::Counter HostTotals::*counter;
};
constexpr std::array kTroubles{
    NamedCounter{"bad packets", &HostTotals::bad_packets},
    NamedCounter{"bad feedback", &HostTotals::bad_feedback},
    NamedCounter{"unknown flows", &HostTotals::unknown_flows},
    NamedCounter{"forged packets", &HostTotals::forged_packets},
    NamedCounter{"duplicate acks", &HostTotals::duplicate_acks},
    NamedCounter{"duplicate packets", &HostTotals::duplicate_packets},
    NamedCounter{"foreign packets", &HostTotals::foreign_packets},
    NamedCounter{"resets", &HostTotals::resets},
    NamedCounter{"time-outs", &HostTotals::timeouts},
    NamedCounter{"flows given up", &HostTotals::given_up_flows},
    NamedCounter{"out of records", &HostTotals::out_of_records},
    NamedCounter{"out of buffers", &HostTotals::out_of_buffers},
    NamedCounter{"queue full", &HostTotals::queue_full},
    NamedCounter{"refused packets", &HostTotals::refused_packets},
    NamedCounter{"delayed flows", &HostTotals::delayed_flows},
    NamedCounter{"flows not started", &HostTotals::unstarted_flows},
};

std::string host_line(const std::string& name, const HostTotals& t) {
  std::array<char, 256> line;
  std::snprintf(line.data(), line.size(),
                "%s: sent %" PRIu64 " packets (%" PRIu64 " again), acknowledged %" PRIu64
                ", lost %" PRIu64 ", received %" PRIu64 "; flows %" PRIu64 " opened, %" PRIu64
                " completed",
                name.c_str(), t.sent_packets.read(), t.retransmitted_packets.read(),
                t.acked_packets.read(), t.lost_packets.read(), t.received_packets.read(),
                t.opened_flows.read(), t.completed_flows.read());
  std::string text = line.data();
  for (const NamedCounter& c : kTroubles) {
    const uint64_t n = (t.*c.counter).read();
    if (n > 0) text += std::string("; ") + c.name + " " + std::to_string(n);
  }
  return text;
}

}  // namespace

void Control::sample(Nanos now) {
  observe(senders_, now, topology_, recorder_);
  report::LiveView view = view_of(topology_, recorder_);
  if (!topology_.streams.empty()) {
    view.t = to_seconds(now);
    view.streams = streams_.take(senders_, now);
  }
  for (const auto& runner : runners_) view.stalled_ms += to_seconds(runner->stalls().total()) * 1e3;
  live_.show(view);
}

void Control::collect() {
  FlowOutcome outcome;
  for (const auto& runner : runners_) {
    while (runner->outcomes().take(outcome)) recorder_.flow_ended(outcome);
  }
}

void Control::conclude(Nanos end) {
  collect();
  observe_delays(senders_, recorder_);
  observe_limits(senders_, recorder_);
  observe_streams(senders_, end, topology_, recorder_);
}

std::vector<LcoreReading> Control::lcores() const {
  std::vector<LcoreReading> out;
  out.reserve(runners_.size());
  for (const auto& runner : runners_)
    out.push_back({{runner->hosts().begin(), runner->hosts().end()},
                   runner->busyness().share(),
                   runner->stalls().total()});
  return out;
}

std::string Control::verdict_text(const RunEnd& end) const {
  const nlohmann::json summary = recorder_.summary(end);
  std::string text = report::limits_text(summary) + streams_text(summary);
  const nlohmann::json& v = summary["verdict"];
  if (v.value("intervals", 0) == 0)
    return text.empty() ? "No steady interval to measure shares in" : text;
  std::array<char, 160> line;
  std::snprintf(line.data(), line.size(),
                "Shares %s: greatest error %.2f %% of at most %.0f %%, lowest utilisation %.2f %%",
                v.value("shares_ok", false) ? "as entitled" : "NOT as entitled",
                100 * v.value("worst_error", 0.0), 100 * v.value("tolerance", 0.0),
                100 * v.value("lowest_utilization", 0.0));
  return text + line.data();
}

std::string counters_text(const config::Topology& topology,
                          std::span<const std::unique_ptr<LcoreRunner>> runners) {
  std::string text;
  for (const auto& runner : runners) {
    for (const auto& host : runner->sender().hosts()) {
      text += host_line(topology.hosts[host->index()].name, host->totals()) + "\n";
    }
    for (size_t i = 0; i < runner->ports().size(); ++i) {
      OpenPort& port = *runner->ports()[i];
      const std::string& name = topology.hosts[runner->hosts()[i]].name;
      const PortStats s = port.port().stats();
      if (port.overflowed() + s.rx_missed + s.rx_no_mbuf + s.rx_errors + s.tx_errors == 0) continue;
      text += name + ": the delay line overflowed " + std::to_string(port.overflowed()) +
              " times, the port missed " + std::to_string(s.rx_missed) + ", had no buffer for " +
              std::to_string(s.rx_no_mbuf) + ", errors " +
              std::to_string(s.rx_errors + s.tx_errors) + "\n";
    }
    text += runner->stalls().text("sender");
    if (runner->outcomes().missed() > 0) {
      text += std::to_string(runner->outcomes().missed()) + " flow outcomes were not recorded\n";
    }
  }
  return text;
}

}  // namespace turnpike::sender
