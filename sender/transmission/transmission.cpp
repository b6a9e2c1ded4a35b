// SPDX-License-Identifier: BSD-3-Clause
#include "sender/transmission/transmission.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <span>

#include <rte_mbuf.h>

#include "common/dpdk/buffer.h"
#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "common/wire/ecn.h"

namespace turnpike::sender {

using wire::Kind;

namespace {

Nanos due(const Flow& f) {
  return f.carries && f.datagrams->urgent() ? f.pacer.due_ahead(f.kind->packet) : f.pacer.due();
}

/// Without SACK the packet that was found lost goes whatever is in flight: more may be missing that
/// the sender does not know of (RFC 6582 section 3.2).
bool window_open(const Flow& f) {
  return f.in_flight_bytes == 0 ||
         as_double(f.in_flight_bytes + f.kind->packet) <= f.allowance.window ||
         (!f.sack && !f.lost.empty() && f.lost.head() == f.lost.tail());
}

/// There is one writer, so that no read-modify-write is needed.
void add(std::atomic<double>& total, double amount) {
  total.store(total.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

// Share of the pace at the floor that the flow's budget does not pay for.
double unpaid_share(const Flow& f) {
  const double cost = f.allowance.price * f.pacer.rate();
  return std::max(0.0, 1 - f.allowance.granted / cost);
}

// $ of a packet that the host's meter counts.
double metered_cost(const Flow& f, uint32_t size, double budget) {
  const double cost = f.allowance.price * size;
  if (!f.underpaid) [[likely]]
    return cost;
  const double unpaid = cost * unpaid_share(f);
  return cost - unpaid + std::min(unpaid, SpendMeter::kMaxUnpaid * budget);
}

// Share of a flow's first packet that its budget has not paid for since the handshake.
double unsaved_share(const Flow& f, uint32_t size) {
  const double saved = to_seconds(f.first_wait) * f.pacer.rate();
  return std::max(0.0, 1 - saved / size);
}

/// Sum of a packet's words, folded.
uint16_t sum_of(const rte_mbuf& m) {
  wire::PiecewiseSum sum;
  for (const rte_mbuf* s = &m; s != nullptr; s = s->next)
    sum.add({rte_pktmbuf_mtod(s, const uint8_t*), s->data_len});
  return sum.folded();
}

// Law and transport both keep the floor, the law with the latest RTT, the transport with the
// smoothed.
bool at_floor(const Flow& f) {
  const double stretch = f.rtt.smoothed() / std::min(f.rtt.smoothed(), f.rtt.latest());
  return f.pacer.rate() <= f.allowance.floor * stretch * (1 + 1e-6);
}

}  // namespace

bool Transmission::send_due(Flow& f, Nanos now) {
  // First of all: packets that are overdue for too long must not go out as a burst.
  if (const Nanos idle = f.pacer.forgive(now, f.rtt.least()); idle > Nanos(0)) {
    parts_.totals.offered_bytes.add(static_cast<uint64_t>(f.pacer.rate() * to_seconds(idle)));
    paused(f, idle, now);
  }
  Nanos not_before = now;
  FlowState state = state_of(f, now);
  for (unsigned burst = 0; due(f) <= now && f.sendable() && window_open(f); ++burst) {
    if (burst == kMaxBurst) break;  // others are due as well; this one is again at once
    if (waits_for_money(f, now)) [[unlikely]]
      break;
    const uint32_t size = send_next(f, state);
    update(f, state);
    if (size == 0) {
      not_before = now + kRetry;
      break;
    }
    f.pacer.sent(size);
    parts_.totals.offered_bytes.add(size);
  }
  // The packets that were to be sent again had arrived after all.
  if (f.stage == Stage::kClosing && f.in_flight.empty() && f.lost.empty()) return false;
  plan_sending(f, not_before);
  return true;
}

bool Transmission::waits_for_money(Flow& f, Nanos now) {
  if (!f.kind->metered || !ledger_.shared()) return false;
  const double budget = ledger_.budget();
  const Nanos turn =
      meter_.ready(metered_cost(f, f.kind->packet, budget), f.underpaid, budget, now);
  if (turn <= now) [[likely]]
    return false;
  f.pacer.postpone(turn);
  return true;
}

void Transmission::plan_sending(Flow& f, Nanos not_before) {
  const bool sendable = f.sendable();
  f.blocked = sendable && !window_open(f);
  f.send_at = sendable && !f.blocked ? max(due(f), not_before) : kNever;
}

void Transmission::paused(Flow& f, Nanos idle, Nanos now) {
  ledger_.record(f, f.law().on_pause(state_of(f, now), idle));
  set_rate(f, now);
}

void Transmission::wake(Flow& f, Nanos now) {
  if (f.paused(now)) paused(f, now - f.pacer.due(), now);
  if (f.send_at == kNever) f.pacer.resume(now);
  plan_sending(f, due(f));
}

void Transmission::set_rate(Flow& f, Nanos now) {
  const Allowance& allowed = f.allowance;
  // A law knows the application's limit and requests no more budget than that needs. It does not
  // know that the line limits a flow: the flow keeps its budget, as if the line were a link.
  const double rate =
      std::min({std::max(allowed.rate, allowed.floor), parts_.line_rate, f.limit()});
  if (const auto price = static_cast<float>(allowed.price); price != f.price) {
    if (f.price > 0 && price > 0 && f.pacer.rate() > 0) {
      // Only a price that collapses makes debts long; to ask the strategy costs a cache line.
      const bool asks = f.wants_budget && price < f.price / 2;
      const double budget = asks ? parts_.strategy->target(f.member).count() : 0;
      const double spends = allowed.price * rate;
      const double spent = spends < budget ? spends / budget : 1;
      f.pacer.reprice(f.price, price, f.kind->packet, spent, now);
    }
    f.price = price;
  }
  f.pacer.set_rate(rate, now);
  f.underpaid = allowed.price * rate > allowed.granted && at_floor(f);
}

uint32_t Transmission::take_record(const Flow& f) {
  RecordPool& records = parts_.lcore.records;
  const bool fair = f.in_flight_bytes <= uint64_t{f.kind->packet} * records.free();
  const uint32_t i = fair ? records.take() : kNoRecord;
  if (i == kNoRecord) [[unlikely]]
    parts_.totals.out_of_records.add();
  return i;
}

uint32_t Transmission::send_next(Flow& f, FlowState& state) {
  if (!f.lost.empty()) {
    parts_.credit(f, drop_covered(f, parts_.lcore.records));
    update(f, state);
  }
  if (!f.lost.empty()) return retransmit(f, state);
  if (f.stage != Stage::kOpen) return 0;
  if (f.carries && !f.at_end()) return send_datagrams(f, state);
  if (!f.at_end()) return send_new(f, state);
  return send_control(f, Kind::kFin, state.now) ? f.kind->headers : 0;
}

uint32_t Transmission::send_new(Flow& f, const FlowState& state) {
  const uint32_t i = take_record(f);
  if (i == kNoRecord) return 0;
  RecordPool& records = parts_.lcore.records;
  const uint32_t size = f.size_of(f.next_sequence);
  records[i].begin(Kind::kData, f.next_sequence, size, size - f.kind->headers);
  if (!transmit(f, i, state)) {
    records.give_back(i);
    return 0;
  }
  ++f.next_sequence;
  if (f.at_end()) {
    parts_.leave_budget(f);
    // The FIN rides right behind the last packet; should it find no room, pacing brings it later.
    if (f.lost.empty()) send_control(f, Kind::kFin, state.now);
  }
  return size;
}

uint32_t Transmission::retransmit(Flow& f, const FlowState& state) {
  RecordPool& records = parts_.lcore.records;
  const uint32_t i = f.lost.head();
  const uint32_t size = records[i].size;
  f.lost.remove(records, i);
  if (!transmit(f, i, state)) {
    f.lost.push_back(records, i);
    return 0;
  }
  f.lost_bytes -= size;
  if (records[i].kind == Kind::kData) {
    ++f.retransmissions;
    parts_.totals.retransmitted_packets.add();
  }
  return size;
}

bool Transmission::send_control(Flow& f, Kind kind, Nanos now) {
  RecordPool& records = parts_.lcore.records;
  const uint32_t i = take_record(f);
  if (i == kNoRecord) return false;
  // A FIN's sequence is the number of packets before it; a SYN's is zero.
  records[i].begin(kind, f.next_sequence, f.kind->headers, 0);
  if (!transmit(f, i, state_of(f, now))) {
    records.give_back(i);
    return false;
  }
  if (kind == Kind::kFin) {
    f.stage = Stage::kClosing;
    parts_.leave_budget(f);
  }
  return true;
}

uint32_t Transmission::send_datagrams(Flow& f, const FlowState& state) {
  RecordPool& records = parts_.lcore.records;
  // With room for a probe before it.
  if (parts_.tx.waiting() + (f.allowance.probe ? 1 : 0) >= TxBuffer::kRoom) {
    parts_.totals.queue_full.add();
    return 0;
  }
  const uint32_t i = take_record(f);
  if (i == kNoRecord) return 0;
  const wire::FrameTemplate& headers = parts_.paths[f.path];
  const auto front =
      static_cast<uint16_t>(headers.headers_size() + f.kind->headers - headers.ip_headers_size());
  const auto taken = f.datagrams->take(f.kind->payload(), front, state.now);
  if (taken.buffer == nullptr) {
    records.give_back(i);
    return 0;
  }
  rte_mbuf& m = *taken.buffer;
  const uint32_t payload = m.pkt_len;
  const bool sealed = f.datagrams->sealed();
  uint64_t sum = sealed ? 0 : sum_of(m);
  records[i].begin(Kind::kData, f.next_sequence, payload + f.kind->headers, payload);
  if (f.allowance.probe) send_probe(f, f.next_sequence, state.now);
  auto* frame = reinterpret_cast<uint8_t*>(rte_pktmbuf_prepend(&m, front));
  const Outgoing out{Kind::kData, f.next_sequence, records[i].size};
  uint8_t* const common = frame + headers.headers_size();
  sum += write_headers(f, out, common, state.now,
                       [&](uint8_t* header) { write_congestion(f, records[i], header, state); });
  if (sealed && !seal(f, {frame + front, payload}, common, sum)) {
    give_back(&m);  // like a packet that the core loses
    sent(f, i, state.now);
    ++f.next_sequence;
    return out.size;
  }
  headers.write(frame, static_cast<uint16_t>(out.size), sum, f.port);
  if (taken.ecn != wire::kNotEct)
    wire::set_ecn(frame + headers.headers_size() - headers.ip_headers_size(), taken.ecn);
  m.ol_flags = 0;
  parts_.tx.put(&m);
  sent(f, i, state.now);
  f.datagrams->sent(records[i].size, f.allowance.price);
  ++f.next_sequence;
  return out.size;
}

bool Transmission::seal(const Flow& f, std::span<uint8_t> payload, const uint8_t* common,
                        uint64_t& sum) {
  if (!f.datagrams->seal(payload,
                         {.common = common, .sequence = f.next_sequence, .source_port = f.port}))
    return false;
  sum += wire::sum_words(payload);
  return true;
}

template <class Write>
uint64_t Transmission::write_headers(Flow& f, const Outgoing& out, uint8_t* payload, Nanos now,
                                     Write&& write_congestion) {
  const size_t congestion = f.kind->protocol->header_size;
  const uint64_t sum = wire::encode({.kind = out.kind,
                                     .protocol = f.kind->protocol->id,
                                     .length = wire::header_length(congestion, 0),
                                     .flow = f.id,
                                     .sequence = static_cast<uint32_t>(out.sequence),
                                     .acknowledgement = static_cast<uint32_t>(f.acknowledged),
                                     .timestamp = wire::to_ticks(now),
                                     .token = f.token},
                                    payload);
  write_congestion(payload + wire::kHeaderSize);
  parts_.nic.stamp(f.kind->protocol->id, payload + wire::kHeaderSize, out.size,
                   out.kind == Kind::kSyn, now);
  return sum + wire::sum_of_words({payload + wire::kHeaderSize, congestion});
}

template <class Write>
bool Transmission::put_frame(Flow& f, const Outgoing& out, Nanos now, Write&& write_congestion) {
  if (parts_.tx.full()) {
    parts_.totals.queue_full.add();
    return false;
  }
  rte_mbuf* m = take_buffer(parts_.lcore.pool);
  if (m == nullptr) {
    parts_.totals.out_of_buffers.add();
    return false;
  }
  const wire::FrameTemplate& headers = parts_.paths[f.path];
  auto* frame = rte_pktmbuf_mtod(m, uint8_t*);
  const size_t last_frame = m->data_len;
  m->data_len = static_cast<uint16_t>(headers.frame_size(out.size));
  m->pkt_len = m->data_len;

  uint8_t* payload = frame + headers.headers_size();
  const uint64_t sum = write_headers(f, out, payload, now, write_congestion);
  // The payload is zeros: the buffer's earlier content must not leave the host.
  const uint16_t length = wire::header_length(f.kind->protocol->header_size, 0);
  const size_t written = headers.headers_size() + length;
  const size_t dirty = parts_.lcore.zeroed ? last_frame : m->data_len;
  if (dirty > written) std::memset(payload + length, 0, dirty - written);
  headers.write(frame, static_cast<uint16_t>(out.size), sum, f.port);
  parts_.tx.put(m);
  return true;
}

void Transmission::send_probe(Flow& f, uint64_t sequence, Nanos now) {
  const auto write = [&](uint8_t* header) {
    f.law().write_probe(state_of(f, now), f.kind->headers, header);
  };
  if (!put_frame(f, {Kind::kData, sequence, f.kind->headers}, now, write)) return;
  f.allowance.probe = false;
  parts_.totals.sent_probes.add();
}

bool Transmission::transmit(Flow& f, uint32_t index, const FlowState& state) {
  const Nanos now = state.now;
  SentPacket& r = parts_.lcore.records[index];
  if (r.kind == Kind::kData && f.allowance.probe) send_probe(f, r.sequence, now);
  const auto write = [&](uint8_t* header) { write_congestion(f, r, header, state); };
  if (!put_frame(f, {r.kind, r.sequence, r.size}, now, write)) return false;
  sent(f, index, now);
  return true;
}

void Transmission::sent(Flow& f, uint32_t index, Nanos now) {
  SentPacket& r = parts_.lcore.records[index];
  r.sent = now;
  if (f.in_flight.empty()) f.rto_base = now;
  f.in_flight.push_back(parts_.lcore.records, index);
  f.in_flight_bytes += r.size;
  if (r.kind == Kind::kData) {
    parts_.totals.sent_packets.add();
    parts_.totals.sent_bytes.add(r.size);
    parts_.lcore.groups[f.source].sent_bytes.add(r.size);
    const double cost = f.allowance.price * r.size;
    add(parts_.totals.spend, cost);
    if (f.kind->metered)
      meter_.spend(metered_cost(f, r.size, ledger_.budget()), ledger_.budget(), now);
    if (f.underpaid) add(parts_.totals.unbudgeted_spend, cost * unpaid_share(f));
    if (r.sequence == 0 && f.next_sequence == 0 && !f.underpaid)
      add(parts_.totals.unbudgeted_spend, cost * unsaved_share(f, r.size));
  }
}

void Transmission::write_congestion(Flow& f, SentPacket& r, uint8_t* header,
                                    const FlowState& state) {
  const auto version = static_cast<uint16_t>(parts_.strategy->version());
  if (f.wants_budget && f.target_version != version) {
    f.target_version = version;
    f.law().set_target(parts_.strategy->target(f.member));
  }
  switch (r.kind) {
    case Kind::kSyn:
      ledger_.record(f, f.law().write_syn(state, r.size, header, r.note));
      break;
    case Kind::kFin:
      ledger_.record(f, f.law().write_fin(state, r.size, header, r.note));
      break;
    default:
      ledger_.record(f, f.law().write_data(state, r.size, header, r.note));
  }
}

}  // namespace turnpike::sender
