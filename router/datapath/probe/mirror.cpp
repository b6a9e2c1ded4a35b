// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/probe/mirror.h"

#include <algorithm>
#include <cstring>

namespace turnpike::router {
namespace {

constexpr double kDepth = 50'000;  // ns of copying at once: a burst of packets, no stall

}  // namespace

Mirror::Mirror(const Options& options)
    : options_(options),
      random_(options.seed),
      tokens_(kDepth),
      counts_(options.links),
      ring_(options.slots, sizeof(MirrorRecord) + options.snap) {
  gap_ = next_gap();
}

// Uniform in 0 ... 2 (sample - 1): the mean distance of two copies is `sample`.
uint64_t Mirror::next_gap() {
  return options_.sample <= 1 ? 0 : random_.next() % (2 * uint64_t{options_.sample} - 1);
}

void Mirror::refill(Nanos now) {
  if (now <= refilled_) return;
  const auto passed = static_cast<double>((now - refilled_).count());
  tokens_ = std::min(kDepth, tokens_ + passed * options_.share);
  refilled_ = now;
}

template <class F>
void Mirror::sample(size_t n, F&& f) {
  size_t at = 0;
  while (gap_ < n - at) {
    at += gap_;
    f(at);
    gap_ = next_gap();
    if (++at == n) return;
  }
  gap_ -= n - at;
}

bool Mirror::copy(const rte_mbuf& m, unsigned link, MirrorRecord::Where where, DropReason why,
                  Nanos now, uint32_t ahead) {
  Counts& counts = counts_[link];
  if (tokens_ <= 0) {
    counts.spent.add();
    return false;
  }
  const auto* bytes = rte_pktmbuf_mtod(&m, const uint8_t*);
  if (options_.filter != nullptr) {
    tokens_ -= kExamine + kInstruction * static_cast<double>(options_.filter->size());
    if (!options_.filter->matches(bytes, m.data_len, m.pkt_len)) return false;
  }
  uint8_t* slot = ring_.claim(ahead);
  if (slot == nullptr) {
    counts.full.add();
    return false;
  }
  // Only the first segment: headers are in it once the packet has been parsed.
  const auto present = static_cast<uint16_t>(std::min<uint32_t>(m.data_len, options_.snap));
  const MirrorRecord record{.time = now,
                            .length = m.pkt_len,
                            .present = present,
                            .link = static_cast<uint16_t>(link),
                            .port = m.port,
                            .where = where,
                            .reason = why};
  std::memcpy(slot, &record, sizeof record);
  std::memcpy(slot + sizeof record, bytes, present);
  tokens_ -= kCopy + kByte * present;
  return true;
}

void Mirror::received(std::span<rte_mbuf* const> packets, unsigned link, Nanos now) {
  refill(now);
  uint32_t copies = 0;
  sample(packets.size(), [&](size_t i) {
    copies +=
        copy(*packets[i], link, MirrorRecord::Where::kReceived, DropReason::kNone, now, copies);
  });
  if (copies == 0) return;
  ring_.publish(copies);
  counts_[link].copied.add(copies);
}

void Mirror::leaving(std::span<rte_mbuf* const> packets, unsigned link, Nanos now) {
  leaving_count_ = 0;
  refill(now);
  sample(packets.size(), [&](size_t i) {
    if (leaving_count_ == kMaxLeaving) return;
    if (copy(*packets[i], link, MirrorRecord::Where::kSent, DropReason::kNone, now, leaving_count_))
      leaving_[leaving_count_++] = i;
  });
}

void Mirror::left(size_t taken, unsigned link) {
  uint32_t n = 0;
  while (n < leaving_count_ && leaving_[n] < taken) ++n;
  leaving_count_ = 0;
  if (n == 0) return;
  ring_.publish(n);
  counts_[link].copied.add(n);
}

void Mirror::dropped(const rte_mbuf& m, unsigned link, DropReason why, Nanos now) {
  if (!options_.dropped || !wants(link)) return;
  refill(now);
  sample(1, [&](size_t) {
    if (!copy(m, link, MirrorRecord::Where::kDropped, why, now, 0)) return;
    ring_.publish();
    counts_[link].copied.add();
  });
}

}  // namespace turnpike::router
