// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/probe/trace.h"

#include <algorithm>
#include <cstring>

#include <rte_mbuf_dyn.h>

namespace turnpike::router {
namespace {

constexpr uint32_t kSlots = 1024;  // records; about 400 KB for each worker

constexpr uint32_t bit(TraceStage s) { return uint32_t{1} << static_cast<unsigned>(s); }

}  // namespace

std::optional<TraceMark> TraceMark::make() {
  constexpr rte_mbuf_dynflag kFlag{.name = "turnpike_traced", .flags = 0};
  constexpr rte_mbuf_dynfield kField{.name = "turnpike_trace_id",
                                     .size = sizeof(uint32_t),
                                     .align = alignof(uint32_t),
                                     .flags = 0};
  const int flag = rte_mbuf_dynflag_register(&kFlag);
  const int offset = rte_mbuf_dynfield_register(&kField);
  if (flag < 0 || offset < 0) return std::nullopt;
  return TraceMark{.flag = uint64_t{1} << flag, .offset = offset};
}

Trace::Trace(const Options& options)
    : options_(options), left_(options.packets), ring_(kSlots, sizeof(TraceRecord)) {}

uint32_t& Trace::id_of(rte_mbuf& m) const {
  return *RTE_MBUF_DYNFIELD(&m, options_.mark.offset, uint32_t*);
}

bool Trace::picks(const rte_mbuf& m) const {
  return options_.filter == nullptr ||
         options_.filter->matches(rte_pktmbuf_mtod(&m, const uint8_t*), m.data_len, m.pkt_len);
}

bool Trace::choose(const Burst& burst) {
  chosen_ = open_ = 0;
  if (left_ == 0 || (options_.link && *options_.link != burst.input)) return false;
  for (unsigned i = 0; i < burst.count && left_ > 0; ++i) {
    if (!picks(*burst.mbufs[i])) continue;
    --left_;
    start(i, burst);
  }
  if (chosen_ == 0) return false;
  after(TraceStage::kParse, burst);
  return true;
}

void Trace::start(unsigned i, const Burst& burst) {
  chosen_ |= 1U << i;
  open_ |= 1U << i;
  const rte_mbuf& m = *burst.mbufs[i];
  TraceRecord& r = records_[i] = TraceRecord();
  r.id = options_.worker << 24 | (next_id_++ & 0xffffff);
  r.stages = bit(TraceStage::kRx);
  r.time = burst.now;
  r.waiting = static_cast<uint16_t>(burst.count);
  r.info = burst.info[i];
  r.length = m.pkt_len;
  r.present = std::min<uint32_t>(m.data_len, TraceRecord::kFrame);
  std::memcpy(r.frame.data(), rte_pktmbuf_mtod(&m, const uint8_t*), r.present);
}

void Trace::after(TraceStage stage, const Burst& burst, uint32_t members) {
  for_each(open_ & members, [&](unsigned i) {
    TraceRecord& r = records_[i];
    r.last = stage;
    if ((burst.dropped >> i & 1) != 0) {
      r.outcome = Outcome::kDropped;
      r.reason = burst.reason[i];
      open_ &= ~(1U << i);
      return;
    }
    r.stages |= bit(stage);
    if (stage != TraceStage::kLookup && stage != TraceStage::kTunnel) return;
    r.info = burst.info[i];
    if (r.info.hop != nullptr) r.hop = *r.info.hop;
    if ((burst.local >> i & 1) != 0) r.outcome = Outcome::kDelivered;
    if ((burst.oversized >> i & 1) != 0) r.outcome = Outcome::kFragmented;
    if ((burst.multicast >> i & 1) != 0) r.outcome = Outcome::kReplicated;
  });
}

void Trace::entered_tunnels(uint32_t members) {
  for_each(open_ & members, [&](unsigned i) {
    records_[i].outcome = Outcome::kTunnelled;
    open_ &= ~(1U << i);
  });
}

void Trace::before_price(const Burst& burst, uint32_t members) {
  for_each(open_ & members, [&](unsigned i) {
    TraceRecord& r = records_[i];
    const PacketInfo& p = burst.info[i];
    if (p.congestion != 0)
      std::memcpy(r.before.data(), frame_of(burst.mbufs[i]) + p.congestion, r.before.size());
  });
}

void Trace::after_price(Burst& burst, const PricedGroup& group, const LinkQueue& queue) {
  for_each(open_ & group.members, [&](unsigned i) {
    TraceRecord& r = records_[i];
    r.last = TraceStage::kPrice;
    r.backlog = group.backlog;
    r.price = queue.price_now();
    const PacketInfo& p = burst.info[i];
    r.info = p;
    rte_mbuf& m = *burst.mbufs[i];
    if (p.congestion != 0) std::memcpy(r.after.data(), frame_of(&m) + p.congestion, r.after.size());
    if ((burst.forward >> i & 1) == 0) return;
    r.stages |= bit(TraceStage::kPrice);
    m.ol_flags |= options_.mark.flag;
    id_of(m) = r.id;
  });
}

void Trace::after_enqueue(const Burst& burst, uint32_t members) {
  for_each(open_ & members, [&](unsigned i) {
    if ((records_[i].stages & bit(TraceStage::kPrice)) == 0) return;
    records_[i].last = TraceStage::kEnqueue;
    if ((burst.dropped >> i & 1) == 0) records_[i].stages |= bit(TraceStage::kEnqueue);
  });
}

void Trace::finish(const Burst& burst) {
  for_each(open_ & burst.dropped, [&](unsigned i) {
    records_[i].outcome = Outcome::kDropped;
    records_[i].reason = burst.reason[i];
  });
  for_each(chosen_, [&](unsigned i) { put(records_[i]); });
  chosen_ = open_ = 0;
}

void Trace::leaving(std::span<rte_mbuf* const> packets) {
  leaving_count_ = 0;
  for (size_t k = 0; k < packets.size() && leaving_count_ < kMaxLeaving; ++k)
    if ((packets[k]->ol_flags & options_.mark.flag) != 0) {
      leaving_[leaving_count_++] = {.packet = packets[k], .place = k, .id = id_of(*packets[k])};
      packets[k]->ol_flags &= ~options_.mark.flag;
    }
}

void Trace::left(size_t taken, unsigned link, Nanos now) {
  for (size_t k = 0; k < leaving_count_; ++k) {
    if (leaving_[k].place >= taken) {  // the port did not take it: it is still ours
      leaving_[k].packet->ol_flags |= options_.mark.flag;
      continue;
    }
    TraceRecord r;
    r.id = leaving_[k].id;
    r.departure = true;
    r.outcome = Outcome::kSent;
    r.last = TraceStage::kTx;
    r.link = static_cast<uint16_t>(link);
    r.time = now;
    put(r);
  }
}

void Trace::dropped_later(const rte_mbuf& m, unsigned link, DropReason why, Nanos now) {
  if ((m.ol_flags & options_.mark.flag) == 0) return;
  TraceRecord r;
  r.id = *RTE_MBUF_DYNFIELD(&m, options_.mark.offset, const uint32_t*);
  r.departure = true;
  r.outcome = Outcome::kDropped;
  r.reason = why;
  r.last = TraceStage::kTx;
  r.link = static_cast<uint16_t>(link);
  r.time = now;
  put(r);
}

void Trace::put(const TraceRecord& record) {
  uint8_t* slot = ring_.claim();
  if (slot == nullptr) return lost_.add();
  std::memcpy(slot, &record, sizeof record);
  ring_.publish();
}

bool Trace::take(TraceRecord& out) {
  const uint8_t* slot = ring_.front();
  if (slot == nullptr) return false;
  std::memcpy(&out, slot, sizeof out);
  ring_.pop();
  return true;
}

}  // namespace turnpike::router
