// SPDX-License-Identifier: BSD-3-Clause
#include "lab/throughput/trial.h"

#include <algorithm>

#include "common/report/number.h"
#include "sender/results/streams.h"

namespace turnpike::lab {
namespace {

using nlohmann::json;
using report::significant;

constexpr double kMinPackets = 100;  // of fewer packets all may arrive by chance

bool kept_up(const json& s) {
  const double offered = s.value("offered_packets", 0.0), sent = s.value("sent_packets", 0.0);
  return offered - sent <= sender::kMaxUnsent * offered;
}

void add_stream(const std::string& name, const json& s, Refusals refusals, Trial& out) {
  const double offered = s.value("offered_packets", 0.0), sent = s.value("sent_packets", 0.0);
  const double unsent = offered - sent;
  if (!kept_up(s) && (refusals != Refusals::kDevice || s.value("no_room", 0) == 0))
    out.faults.push_back(name + ": the generator did not send " +
                         significant(100 * unsent / offered, 3) + " % of the packets due");
  if (s.value("no_buffer", 0) > 0) out.faults.push_back(name + ": the generator ran out of mbufs");
  if (s.value("untimed_packets", 0) > 0 || s.value("strange_packets", 0) > 0)
    out.faults.push_back(name + ": packets came that it cannot have sent");
  out.reordered += s.value("reordered_packets", uint64_t{0});
  out.duplicates += s.value("duplicate_packets", uint64_t{0});
  const json us = s.value("latency_us", json::object());
  out.p50 = std::max(out.p50, us.value("p50", 0.0));
  out.p99 = std::max(out.p99, us.value("p99", 0.0));
  out.p999 = std::max(out.p999, us.value("p999", 0.0));
  out.max = std::max(out.max, us.value("max", 0.0));
}

void add_lcore(const json& lcore, Trial& out) {
  out.busy = std::max(out.busy, lcore.value("busy", 0.0));
  if (const double ms = lcore.value("stalled_ms", 0.0); ms > 0)
    out.faults.push_back("the generator was descheduled for " + significant(ms, 3) + " ms");
}

void add_router(const json& router, Trial& out) {
  const std::string name = router.value("node", "router");
  if (const double ms = router.value("stalled_ms", 0.0); ms > 0)
    out.faults.push_back(name + " was descheduled for " + significant(ms, 3) + " ms");
  const json links = router.value("links", json::object());
  for (const auto& [link, counters] : links.items())
    if (counters.value("port", json::object()).value("no_mbuf", 0) > 0)
      out.faults.push_back(std::string(name).append(" ran out of mbufs at ").append(link));
}

}  // namespace

double cycles_per_packet(const json& platform) {
  double cycles = 0, packets = 0;
  const json lcores = platform.value("lcores", json::array());
  for (const json& l : lcores) {
    const json each = l.value("cycles_per_packet", json());
    if (!each.is_number()) continue;
    const double n = l.value("rx_packets", 0.0);
    cycles += n * each.get<double>();
    packets += n;
  }
  return packets > 0 ? cycles / packets : 0;
}

Trial evaluate(double share, const json& summary, std::span<const json> routers,
               Refusals refusals) {
  Trial out{.share = share, .faults = {}};
  double offered = 0, received = 0, counted = 0;
  const json streams = summary.value("streams", json::object());
  for (const auto& [name, s] : streams.items()) {
    add_stream(name, s, refusals, out);
    const double due = s.value("offered_packets", 0.0), here = s.value("received_packets", 0.0);
    const double sent = s.value("sent_packets", 0.0), pps = s.value("offered_pps", 0.0);
    offered += due;
    counted += refusals == Refusals::kNic && kept_up(s) ? sent : due;
    received += here;
    out.offered_pps += pps;
    if (due > 0) out.carried_pps += pps * here / due;
    if (sent > 0) out.l1_mbps += s.value("achieved_l1_mbps", 0.0) * here / sent;
  }
  if (offered < kMinPackets) {
    out.faults.push_back("of " + significant(offered, 3) +
                         " packets due, the loss cannot be measured: use longer trials (--trial)");
  } else {
    out.loss = 1 - received / counted;
  }
  const json lcores = summary.value("lcores", json::array());
  for (const json& lcore : lcores) add_lcore(lcore, out);
  for (const json& router : routers) add_router(router, out);
  return out;
}

nlohmann::ordered_json trial_json(const Trial& t) {
  return {{"share", t.share},
          {"offered_pps", t.offered_pps},
          {"carried_pps", t.carried_pps},
          {"carried_l1_mbps", t.l1_mbps},
          {"loss", t.loss},
          {"busy", t.busy},
          {"cycles_per_packet",
           t.cycles > 0 ? nlohmann::ordered_json(t.cycles) : nlohmann::ordered_json()},
          {"reordered_packets", t.reordered},
          {"duplicate_packets", t.duplicates},
          {"latency_us", {{"p50", t.p50}, {"p99", t.p99}, {"p999", t.p999}, {"max", t.max}}},
          {"faults", t.faults}};
}

}  // namespace turnpike::lab
