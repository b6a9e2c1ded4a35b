// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/series.h"

#include "common/report/csv.h"
#include "common/report/number.h"

namespace turnpike::sender {
namespace {

using config::Topology;
using report::csv_field;
using report::fixed;
using report::significant;

std::string group_name(const Topology& topology, size_t group) {
  const size_t flows = topology.flows.size();
  return group < flows ? topology.flows[group].name : topology.workloads[group - flows].name;
}

/// Mean rate in Mbps between two readings of a byte counter, `span` s apart.
std::string mbps(uint64_t now, uint64_t then, double span) {
  return significant(static_cast<double>(now - then) * 8e-6 / span, 7);
}

}  // namespace

std::string rates_csv(const Topology& topology, const Record& record) {
  std::string out =
      "t,host,flow,rate_mbps,sent_mbps,offered_mbps,price,budget,rtt_ms,queueing_ms,lost,flows\n";
  for (size_t i = 1; i < record.samples.size(); ++i) {
    const Sample &then = record.samples[i - 1], &now = record.samples[i];
    const double span = to_seconds(now.now - then.now);
    const std::string t = fixed(to_seconds(now.now), 6) + ",";
    for (size_t h = 0; h < now.hosts.size(); ++h) {
      const HostReading &a = then.hosts[h], &b = now.hosts[h];
      if (record.samples.back().hosts[h].sent_packets == 0) continue;
      out += t + csv_field(topology.hosts[h].name) + ",," +
             mbps(b.acked_bytes, a.acked_bytes, span) + "," +
             mbps(b.sent_bytes, a.sent_bytes, span) + "," +
             mbps(b.offered_bytes, a.offered_bytes, span) + "," + significant(b.price, 7) + "," +
             significant(b.committed, 7) + "," + significant(to_seconds(b.rtt) * 1e3, 7) + "," +
             significant(to_seconds(b.queueing) * 1e3, 7) + "," + std::to_string(b.lost_packets) +
             "," + std::to_string(b.active_flows) + "\n";
    }
    for (size_t g = 0; g < now.groups.size(); ++g) {
      const GroupReading &a = then.groups[g], &b = now.groups[g];
      if (b.sent_bytes == 0) continue;
      const std::string host =
          g < topology.flows.size() ? topology.hosts[topology.flows[g].from].name : "";
      out += t + csv_field(host) + "," + csv_field(group_name(topology, g)) + "," +
             mbps(b.acked_bytes, a.acked_bytes, span) + "," +
             mbps(b.sent_bytes, a.sent_bytes, span) + ",,," + significant(b.committed, 7) + ",,,," +
             std::to_string(b.active_flows) + "\n";
    }
  }
  return out;
}

const char* end_name(FlowEnd how) {
  switch (how) {
    case FlowEnd::kClosed:
      return "closed";
    case FlowEnd::kReset:
      return "reset";
    case FlowEnd::kGivenUp:
      return "given_up";
    case FlowEnd::kUnanswered:
      return "unanswered";
    case FlowEnd::kOpen:
      break;
  }
  return "open";
}

void write_flows_csv(const Topology& topology, const Record& record, report::WholeFile& file) {
  file.write("id,flow,host,to,start_s,bytes,completion_s,packets,retransmissions,ended\n");
  for (const FlowOutcome& f : record.outcomes)
    file.write(std::to_string(f.id) + "," + csv_field(group_name(topology, f.source)) + "," +
               csv_field(topology.hosts[f.host].name) + "," +
               csv_field(topology.destination_name(f.to)) + "," + fixed(to_seconds(f.start), 9) +
               "," + std::to_string(f.bytes) + "," +
               (f.completed ? fixed(to_seconds(f.end - f.start), 9) : "") + "," +
               std::to_string(f.packets) + "," + std::to_string(f.retransmissions) + "," +
               end_name(f.ended) + "\n");
}

}  // namespace turnpike::sender
