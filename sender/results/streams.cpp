// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/streams.h"

#include <nlohmann/json.hpp>

#include "common/report/number.h"

namespace turnpike::sender {
namespace {

using nlohmann::json;
using report::significant;

double ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

json micros(const Spread& s) {
  const auto us = [](Nanos t) { return to_seconds(t) * 1e6; };
  return {{"count", s.count}, {"mean", us(s.mean)}, {"p50", us(s.p50)}, {"p90", us(s.p90)},
          {"p99", us(s.p99)}, {"p999", us(s.p999)}, {"max", us(s.max)}};
}

void add_sent(const StreamReading::Sent& s, json& out) {
  const double seconds = to_seconds(s.active);
  const auto per_second = [&](double n) { return seconds > 0 ? n / seconds : 0; };
  const auto packets = static_cast<double>(s.packets), bytes = static_cast<double>(s.bytes);
  const uint64_t unsent = s.offered - s.packets;
  out["offered_packets"] = s.offered;
  out["sent_packets"] = s.packets;
  out["unsent_packets"] = unsent;
  out["offered_pps"] = per_second(static_cast<double>(s.offered));
  out["achieved_pps"] = per_second(packets);
  out["achieved_l1_mbps"] = per_second(8e-6 * (bytes + packets * config::kFrameOnLine));
  out["achieved_l2_mbps"] = per_second(8e-6 * bytes);
  out["no_buffer"] = s.no_buffer;
  out["no_room"] = s.no_room;
  out["kept_up"] = ratio(unsent, s.offered) <= kMaxUnsent;
  if (s.lag.count > 0) out["lag_us"] = micros(s.lag);
}

void add_received(const StreamReading::Received& r, uint64_t sent, json& out) {
  out["received_packets"] = r.packets;
  out["lost_packets"] = sent - r.packets;
  out["loss"] = ratio(sent - r.packets, sent);
  out["reordered_packets"] = r.reordered;
  out["duplicate_packets"] = r.duplicates;
  out["too_old_packets"] = r.too_old;
  out["strange_packets"] = r.strange;
  out["untimed_packets"] = r.untimed;
  if (r.latency.count > 0) out["latency_us"] = micros(r.latency);
}

/// The clock of a stream's send times. With another sender's clock, latencies are valid only if
/// both senders read the TSC of the same processor.
const char* stamped_by(const StreamReading& r, const RunEnd& end) {
  if (!end.wall_s) return "the lab's clock";
  return r.sent ? "this sender" : "another sender";
}

std::string count_of(const json& stream, const char* key) {
  return std::to_string(stream.value(key, uint64_t{0}));
}

std::string latency_text(const json& us) {
  std::string out = "latency";
  const auto add = [&](const char* word, const char* key) {
    out.append(" ").append(word).append(" ").append(significant(us.value(key, 0.0), 4));
  };
  add("p50", "p50");
  add("p99", "p99");
  add("p99.9", "p999");
  add("max", "max");
  return out + " us";
}

std::string sent_text(const json& s) {
  std::string out = " sent " + count_of(s, "sent_packets") + " packets, " +
                    significant(s.value("achieved_pps", 0.0) * 1e-6, 4) + " Mpps, " +
                    significant(s.value("achieved_l1_mbps", 0.0), 4) +
                    " Mbps with preambles and gaps";
  if (!s.value("kept_up", false))
    out += "\n    THE SENDER DID NOT KEEP UP: " + count_of(s, "unsent_packets") + " of " +
           count_of(s, "offered_packets") + " packets were due but not sent";
  return out + "\n   ";
}

std::string received_text(const json& s) {
  std::string out =
      " received " + count_of(s, "received_packets") + ", lost " + count_of(s, "lost_packets") +
      " (" + significant(100 * s.value("loss", 0.0), 4) + " %), reordered " +
      count_of(s, "reordered_packets") + ", twice " + count_of(s, "duplicate_packets");
  if (!s.contains("latency_us")) return out;
  return out + "; " + latency_text(s["latency_us"]) + ", stamped by " + s.value("stamped_by", "");
}

}  // namespace

json streams_json(const config::Topology& topology, const Record& record, const RunEnd& end) {
  json out = json::object();
  for (size_t i = 0; i < topology.streams.size(); ++i) {
    const StreamReading& r = record.streams[i];
    json& stream = out[topology.streams[i].name];
    stream = json::object();
    if (r.sent) add_sent(*r.sent, stream);
    if (!r.received) continue;
    add_received(*r.received, r.sent ? r.sent->packets : r.received->next, stream);
    stream["stamped_by"] = stamped_by(r, end);
  }
  return out;
}

std::string streams_text(const json& summary) {
  std::string out;
  if (!summary.contains("streams")) return out;
  for (const auto& [name, s] : summary["streams"].items()) {
    out.append("  ").append(name).append(":");
    if (s.contains("sent_packets")) out += sent_text(s);
    if (s.contains("received_packets")) out += received_text(s);
    out += "\n";
  }
  if (!summary.contains("lcores")) return out;
  out += "  lcores busy:";
  for (const json& lcore : summary["lcores"])
    out.append(" ").append(significant(100 * lcore.value("busy", 0.0), 3)).append(" %");
  return out + "\n";
}

}  // namespace turnpike::sender
