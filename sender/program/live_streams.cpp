// SPDX-License-Identifier: BSD-3-Clause
#include "sender/program/live_streams.h"

#include <utility>

namespace turnpike::sender {

LiveStreams::LiveStreams(const config::Topology& topology)
    : topology_(topology), last_(topology.streams.size()) {}

std::vector<LiveStreams::Counts> LiveStreams::read(std::span<Sender* const> senders,
                                                   size_t streams) {
  std::vector<Counts> all(streams);
  for (const Sender* sender : senders)
    for (const auto& host : sender->hosts()) {
      const OpenLoop& loop = host->open_loop();
      for (const auto& e : loop.emitters()) {
        Counts& c = all[e->index()];
        c.ours = true;
        c.sent = e->departures().packets.read();
        c.unsent = e->departures().skipped.read();
      }
      for (size_t i = 0; i < streams; ++i) {
        const Counted* arriving = loop.meter().stream(i);
        if (arriving == nullptr) continue;
        Counts& c = all[i];
        c.ours = true;
        const uint64_t next = arriving->next();  // read before `received`: counts no loss too many
        c.received = arriving->arrivals().packets.read();
        c.reordered = arriving->arrivals().reordered.read();
        c.missing = next > c.received ? next - c.received : 0;
      }
    }
  return all;
}

std::vector<report::LiveStream> LiveStreams::take(std::span<Sender* const> senders, Nanos now) {
  std::vector<Counts> counts = read(senders, last_.size());
  const double seconds = to_seconds(now - std::exchange(then_, now));
  const auto rate = [&](uint64_t after, uint64_t before) {
    return static_cast<double>(after - before) / seconds;
  };
  std::vector<report::LiveStream> view;
  view.reserve(counts.size());
  for (size_t i = 0; seconds > 0 && i < counts.size(); ++i) {
    const Counts &c = counts[i], &before = last_[i];
    if (!c.ours) continue;
    view.push_back({.name = topology_.streams[i].name,
                    .offered_pps = rate(c.sent + c.unsent, before.sent + before.unsent),
                    .sent_pps = rate(c.sent, before.sent),
                    .received_pps = rate(c.received, before.received),
                    .unsent = c.unsent,
                    .lost = c.missing,
                    .reordered = c.reordered});
  }
  last_ = std::move(counts);
  return view;
}

}  // namespace turnpike::sender
