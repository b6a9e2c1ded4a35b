// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/record_file.h"

#include <stdexcept>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "common/report/whole_file.h"
#include "sender/results/fields.h"

namespace turnpike::sender {
namespace {

using nlohmann::json;

json value_of(Nanos t) { return t.count(); }
template <class T>
json value_of(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return static_cast<std::underlying_type_t<T>>(value);
  else
    return value;
}

void take_value(const json& value, Nanos& out) { out = Nanos(value.get<int64_t>()); }
template <class T>
void take_value(const json& value, T& out) {
  if constexpr (std::is_enum_v<T>)
    out = static_cast<T>(value.get<std::underlying_type_t<T>>());
  else
    out = value.get<T>();
}

/// The fields of a reading in their order.
template <class Reading>
json row(const Reading& reading) {
  json out = json::array();
  for_each_field(reading, [&](const auto& field) { out.push_back(value_of(field)); });
  return out;
}

template <class Reading>
Reading reading(const json& row) {
  Reading out;
  size_t at = 0;
  for_each_field(out, [&](auto& field) { take_value(row.at(at++), field); });
  if (at != row.size()) throw std::out_of_range("more values than fields");
  return out;
}

template <class Reading>
json rows(const std::vector<Reading>& readings) {
  json out = json::array();
  for (const Reading& r : readings) out.push_back(row(r));
  return out;
}

template <class Reading>
std::vector<Reading> readings(const json& rows, size_t count) {
  if (rows.size() != count) throw std::out_of_range("another number of rows");
  std::vector<Reading> out;
  for (const json& r : rows) out.push_back(reading<Reading>(r));
  return out;
}

json to_json(const RunEnd& end) {
  json lcores = json::array();
  for (const LcoreReading& l : end.lcores)
    lcores.push_back({{"hosts", l.hosts}, {"busy", l.busy}, {"stalled", l.stalled.count()}});
  return {{"now", end.now.count()},
          {"wall_s", end.wall_s ? json(*end.wall_s) : json()},
          {"lcores", std::move(lcores)},
          {"unix_s", end.unix_s},
          {"facts", end.facts}};
}

RunEnd end_from(const json& tree, const config::Topology& t) {
  RunEnd end{.now = Nanos(tree.at("now").get<int64_t>()), .unix_s = tree.at("unix_s")};
  if (!tree.at("wall_s").is_null()) end.wall_s = tree.at("wall_s").get<double>();
  for (const json& l : tree.at("lcores")) {
    end.lcores.push_back({.hosts = l.at("hosts"),
                          .busy = l.at("busy"),
                          .stalled = Nanos(l.at("stalled").get<int64_t>())});
    for (const uint32_t host : end.lcores.back().hosts)
      if (host >= t.hosts.size()) throw std::out_of_range("no such host");
  }
  tree.at("facts").get_to(end.facts);
  return end;
}

json to_json(const StreamReading& stream, size_t index) {
  json out{{"stream", index}};
  if (stream.sent) out["sent"] = row(*stream.sent);
  if (stream.received) out["received"] = row(*stream.received);
  return out;
}

FlowOutcome outcome_from(const json& tree, const config::Topology& t) {
  const auto outcome = reading<FlowOutcome>(tree);
  if (outcome.host >= t.hosts.size() || outcome.ended > FlowEnd::kGivenUp ||
      outcome.source >= t.flows.size() + t.workloads.size())
    throw std::out_of_range("no such host or flow");
  if (outcome.end < outcome.start) throw std::out_of_range("a flow ends before its start");
  return outcome;
}

void take_line(const json& line, const config::Topology& t, RecordedRun& run) {
  Record& record = run.record;
  if (line.contains("end")) {
    run.end = end_from(line["end"], t);
  } else if (line.contains("limits")) {
    record.limits = reading<LimitsReading>(line["limits"]);
  } else if (line.contains("sample")) {
    record.samples.push_back(
        {.now = Nanos(line["sample"].get<int64_t>()),
         .hosts = readings<HostReading>(line.at("hosts"), t.hosts.size()),
         .groups = readings<GroupReading>(line.at("groups"), t.flows.size() + t.workloads.size())});
  } else if (line.contains("outcome")) {
    record.outcomes.push_back(outcome_from(line["outcome"], t));
  } else if (line.contains("delays")) {
    record.delays.at(line["delays"].get<size_t>()) = {reading<Spread>(line.at("rtt")),
                                                      reading<Spread>(line.at("queueing"))};
  } else {
    StreamReading& stream = record.streams.at(line.at("stream").get<size_t>());
    if (line.contains("sent")) stream.sent = reading<StreamReading::Sent>(line["sent"]);
    if (line.contains("received"))
      stream.received = reading<StreamReading::Received>(line["received"]);
  }
}

}  // namespace

tl::expected<void, std::string> write_record(const Record& record, const RunEnd& end,
                                             const std::string& folder) {
  auto file = report::WholeFile::open(folder + "/record.jsonl");
  if (!file) return tl::unexpected(file.error());
  const auto write = [&](const json& line) { file->write(line.dump() + "\n"); };
  write({{"end", to_json(end)}});
  if (record.limits) write({{"limits", row(*record.limits)}});
  for (const Sample& s : record.samples)
    write({{"sample", s.now.count()}, {"hosts", rows(s.hosts)}, {"groups", rows(s.groups)}});
  for (const FlowOutcome& outcome : record.outcomes) write({{"outcome", row(outcome)}});
  for (size_t i = 0; i < record.delays.size(); ++i)
    if (const DelayRow& d = record.delays[i]; d.rtt.count + d.queueing.count > 0)
      write({{"delays", i}, {"rtt", row(d.rtt)}, {"queueing", row(d.queueing)}});
  for (size_t i = 0; i < record.streams.size(); ++i)
    if (const StreamReading& s = record.streams[i]; s.sent || s.received) write(to_json(s, i));
  return file->finish();
}

tl::expected<RecordedRun, std::string> read_record(std::string_view text,
                                                   const config::Topology& topology,
                                                   const std::string& folder) {
  RecordedRun run;
  run.record.outcomes = OutcomeLog(folder);
  run.record.delays.resize(topology.hosts.size());
  run.record.streams.resize(topology.streams.size());
  size_t number = 0;
  try {
    while (!text.empty()) {
      ++number;
      const size_t length = text.find('\n');
      take_line(json::parse(text.substr(0, length)), topology, run);
      text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
    }
  } catch (const std::exception& e) {
    return tl::unexpected("record.jsonl:" + std::to_string(number) + ": " + e.what());
  }
  return run;
}

}  // namespace turnpike::sender
