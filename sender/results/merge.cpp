// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/merge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "sender/results/fields.h"

namespace turnpike::sender {
namespace {

/// The fields of a reading as numbers.
template <class Reading>
std::vector<double> numbers(const Reading& r) {
  std::vector<double> out;
  for_each_field(r, [&](const auto& field) {
    if constexpr (requires { field.count(); })
      out.push_back(static_cast<double>(field.count()));
    else
      out.push_back(static_cast<double>(field));
  });
  return out;
}

/// Adds `a` + `part` x (`b` - `a`) to `sum`. A 53-bit mantissa holds 9 PB of bytes.
template <class Reading>
void add_between(Reading& sum, const Reading& a, const Reading& b, double part) {
  const std::vector<double> from = numbers(a), to = numbers(b);
  size_t i = 0;
  for_each_field(sum, [&](auto& field) {
    using Field = std::remove_reference_t<decltype(field)>;
    const double value = from[i] + part * (to[i] - from[i]);
    ++i;
    if constexpr (std::is_same_v<Field, Nanos>)
      field += Nanos(std::llround(value));
    else if constexpr (std::is_floating_point_v<Field>)
      field += value;
    else
      field += static_cast<Field>(std::llround(value));
  });
}

/// Adds a sender's readings at `sum.now`.
void add_sample(Sample& sum, const std::vector<Sample>& samples) {
  if (samples.empty()) return;
  const auto after = std::ranges::lower_bound(samples, sum.now, {}, &Sample::now);
  const Sample& b = after == samples.end() ? samples.back() : *after;
  const Sample& a = after == samples.begin() ? b : *std::prev(after);
  const double part =
      b.now > a.now ? std::min(1.0, to_seconds(sum.now - a.now) / to_seconds(b.now - a.now)) : 0;
  for (size_t i = 0; i < sum.hosts.size(); ++i)
    add_between(sum.hosts[i], a.hosts[i], b.hosts[i], part);
  for (size_t i = 0; i < sum.groups.size(); ++i)
    add_between(sum.groups[i], a.groups[i], b.groups[i], part);
}

void add_end(RunEnd& sum, const RunEnd& end) {
  sum.now = std::max(sum.now, end.now);
  if (end.wall_s) sum.wall_s = std::max(sum.wall_s.value_or(0), *end.wall_s);
  sum.lcores.insert(sum.lcores.end(), end.lcores.begin(), end.lcores.end());
  if (sum.unix_s == 0) sum.unix_s = end.unix_s;
  sum.facts.insert(end.facts.begin(), end.facts.end());
}

/// Adds all but the samples.
void add_totals(Record& sum, const Record& part) {
  for (const FlowOutcome& f : part.outcomes) sum.outcomes.push_back(f);
  for (size_t i = 0; i < sum.delays.size(); ++i)
    if (part.delays[i].rtt.count > 0) sum.delays[i] = part.delays[i];
  for (size_t i = 0; i < sum.streams.size(); ++i) {
    if (part.streams[i].sent) sum.streams[i].sent = part.streams[i].sent;
    if (part.streams[i].received) sum.streams[i].received = part.streams[i].received;
  }
  if (part.limits) {
    if (!sum.limits) sum.limits.emplace();
    sum.limits->add(*part.limits);
  }
}

}  // namespace

RecordedRun merge(const config::Topology& t, std::span<const RecordedRun> runs,
                  const std::string& folder) {
  RecordedRun all;
  all.record.outcomes = OutcomeLog(folder);
  all.record.delays.resize(t.hosts.size());
  all.record.streams.resize(t.streams.size());
  for (const RecordedRun& run : runs) {
    add_end(all.end, run.end);
    add_totals(all.record, run.record);
  }
  // Senders end within some ms of each other: the last sample is no shorter than half of the
  // others.
  const auto next = [&](Nanos now) {
    const Nanos then = now + t.run.sample;
    return all.end.now - then < t.run.sample / 2 ? all.end.now : then;
  };
  for (Nanos now{0};; now = next(now)) {
    Sample sum{.now = now,
               .hosts = std::vector<HostReading>(t.hosts.size()),
               .groups = std::vector<GroupReading>(t.flows.size() + t.workloads.size())};
    for (const RecordedRun& run : runs) add_sample(sum, run.record.samples);
    all.record.samples.push_back(std::move(sum));
    if (now >= all.end.now) break;
  }
  return all;
}

}  // namespace turnpike::sender
