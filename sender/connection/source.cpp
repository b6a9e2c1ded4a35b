// SPDX-License-Identifier: BSD-3-Clause
// A flow's life: opened, acknowledged, timed out, stopped, finished.
#include "sender/connection/source.h"

#include <algorithm>
#include <cmath>

#include "sender/recovery/loss.h"

namespace turnpike::sender {

using wire::Kind;

namespace {

/// Divides what the traffic asks for into packets.
void cut(Flow& f, uint64_t bytes) {
  const FlowClass& kind = *f.kind;
  f.last_size = static_cast<uint16_t>(kind.packet);
  if (bytes == config::kEndless) {
    f.packets = kEndlessPackets;
    return;
  }
  const uint32_t unit = kind.count_packets ? kind.packet : kind.payload();
  f.packets = (bytes + unit - 1) / unit;
  const auto rest = static_cast<uint32_t>(bytes % unit);
  // A datagram carries a byte at least, however little of it the count leaves.
  if (rest != 0)
    f.last_size = static_cast<uint16_t>(kind.count_packets ? std::max(rest, kind.headers + 1)
                                                           : kind.headers + rest);
}

}  // namespace

void SourceParts::credit(Flow& f, const Acknowledged& done) {
  totals.acked_packets.add(done.packets);
  totals.acked_bytes.add(done.bytes);
  lcore.groups[f.source].acked_bytes.add(done.bytes);
  f.delivered += done.payload;
  f.delivered_packets += done.packets;
}

void SourceParts::leave_budget(Flow& f) {
  if (!f.wants_budget) return;
  f.wants_budget = false;
  strategy->leave(f.member);
}

Flow& Source::open(const FlowClass& kind, const Event& event, Nanos now,
                   DatagramSource* datagrams) {
  Flow& f = *parts_.lcore.flows.open();
  f.stage = Stage::kOpening;
  f.kind = &kind;
  f.host = parts_.host;
  f.to = event.to;
  f.source = event.source;
  f.instance = event.instance;
  f.datagrams = datagrams;
  f.carries = datagrams != nullptr;
  f.asked = event.at;
  f.path = parts_.paths.find(event.to, kind.ip_version, kind.dscp);
  f.port = Paths::source_port(opened_++);
  cut(f, event.bytes);

  kind.protocol->make_flow_law(kind.params, f.law_storage);
  f.wants_budget = true;
  f.member.terms = &kind.terms;
  parts_.strategy->join(f.member);
  ledger_.joined(f);
  parts_.totals.opened_flows.add();
  parts_.totals.active_flows.fetch_add(1, std::memory_order_relaxed);
  parts_.lcore.groups[f.source].active_flows.fetch_add(1, std::memory_order_relaxed);

  if (!transmission_.send_control(f, Kind::kSyn, now)) f.recover_at = now + Transmission::kRetry;
  arm(f);
  return f;
}

void Source::wake(Flow& f, Nanos now) {
  if (f.stage != Stage::kOpen) return;
  // Transmission::wake() sets the rate of a flow that has paused.
  if (!f.paused(now)) transmission_.set_rate(f, now);
  transmission_.wake(f, now);
  if (f.send_at <= now) send_due(f, now);
  arm(f);
}

void Source::set_budget(Budget budget) {
  ledger_.set_budget(budget);
  parts_.strategy->set_budget(budget);
}

void Source::stop(Flow& f, Nanos now) {
  parts_.leave_budget(f);
  uint64_t last = f.next_sequence;
  if (f.stage == Stage::kOpen && !f.carries) {
    const double round =
        std::min(f.pacer.rate() * to_seconds(f.rtt.smoothed()), f.allowance.window);
    last += static_cast<uint64_t>(std::max(1.0, std::floor(round / f.kind->packet)));
  }
  if (f.stage == Stage::kClosing || last >= f.packets) return;  // about to end by itself
  f.cut_short = f.packets != kEndlessPackets;
  f.packets = last;
  f.last_size = static_cast<uint16_t>(f.kind->packet);
  if (f.stage != Stage::kOpen) return;
  transmission_.wake(f, now);
  arm(f);
}

void Source::wind_down(Flow& f, Nanos now) {
  const bool silent = f.backoff >= (f.stage == Stage::kOpening ? 1 : kSilentTimeouts);
  report(f, silent ? FlowEnd::kUnanswered : FlowEnd::kOpen, now);
  stop(f, now);
}

void Source::abandon(Flow& f, Nanos now) { finish(f, FlowEnd::kOpen, now); }

bool Source::on_answer(uint32_t id, const AckInfo& answer, uint8_t protocol, uint16_t port,
                       Nanos now) {
  Flow* f = parts_.lcore.flows.find(id);
  if (f == nullptr || f->host != parts_.host || f->kind->protocol->id != protocol ||
      f->port != port) {
    parts_.totals.unknown_flows.add();
    return false;
  }
  // An off-path attacker does not know the flow's token. A SYN-ACK brings it.
  if (answer.kind != Kind::kSynAck && answer.token != f->token) [[unlikely]] {
    parts_.totals.forged_packets.add();
    return false;
  }
  FlowState state = f->state(now, ledger_.headroom(*f), parts_.line_rate);
  const Acknowledged done =
      acknowledge(*f, parts_.lcore.records, ledger_, answer, state, parts_.lcore.last_stall_end);
  if (!done.matched) {
    parts_.totals.duplicate_acks.add();
    return false;
  }
  if (answer.kind == Kind::kReset) {
    parts_.totals.resets.add();
    finish(*f, FlowEnd::kReset, now);
    return true;
  }
  if (!f->allowance.credible) parts_.totals.bad_feedback.add();
  if (done.own == Kind::kSyn && f->stage == Stage::kOpening) {
    f->stage = Stage::kOpen;
    f->token = answer.token;
    f->pacer.resume(now + f->first_wait);
  }
  parts_.credit(*f, done);
  if (done.measured) note_delays(*f);
  after_answer(*f, done, now);
  return true;
}

void Source::after_answer(Flow& f, const Acknowledged& done, Nanos now) {
  // In order, as nearly all answers are: the next packet's record need not be fetched to know it.
  Losses losses;
  if (!done.in_order) {
    losses = detect_losses(f, parts_.lcore.records, ledger_, now);
    parts_.totals.lost_packets.add(losses.count);
  }
  if (!f.lost.empty()) parts_.credit(f, drop_covered(f, parts_.lcore.records));
  if (f.stage == Stage::kClosing && f.in_flight.empty() && f.lost.empty()) {
    finish(f, FlowEnd::kClosed, now);
    return;
  }
  transmission_.set_rate(f, now);
  update_strategy(f, now);
  // The handshake's answer is the first chance to send: now, not a wheel's turn later.
  if (done.own == Kind::kSyn) {
    send_due(f, now);
  } else {
    transmission_.wake(f, now);
  }
  f.recover_at = losses.next;
  arm(f);
}

void Source::link_restored(Flow& f, Nanos now) {
  if (f.backoff > 0) retry(f, now);
}

void Source::retry(Flow& f, Nanos now) {
  f.backoff = 0;
  f.rto_base = now - f.timeout();
  arm(f);
}

void Source::on_timer(Flow& f, Nanos now) {
  if (min(f.recover_at, f.timeout_at()) <= now) on_recovery(f, now);
  if (f.send_at <= now && f.stage != Stage::kFree) send_due(f, now);
  arm(f);
}

void Source::send_due(Flow& f, Nanos now) {
  if (!transmission_.send_due(f, now)) finish(f, FlowEnd::kClosed, now);
}

void Source::on_recovery(Flow& f, Nanos now) {
  Losses losses = detect_losses(f, parts_.lcore.records, ledger_, now);
  if (f.timeout_at() <= now) {
    if (f.backoff >= kMaxTimeouts) {
      parts_.totals.given_up_flows.add();
      finish(f, FlowEnd::kGivenUp, now);
      return;
    }
    parts_.totals.timeouts.add();
    losses.count += time_out(f, parts_.lcore.records, ledger_, now);
  }
  parts_.totals.lost_packets.add(losses.count);
  f.recover_at = losses.next;

  if (f.stage == Stage::kOpening) {
    // There is no rate yet: a SYN goes as soon as it is known to be needed.
    const bool sent = !f.lost.empty()       ? transmission_.send_again(f, now) > 0
                      : f.in_flight.empty() ? transmission_.send_control(f, Kind::kSyn, now)
                                            : true;
    if (!sent) f.recover_at = now + Transmission::kRetry;
    return;
  }
  transmission_.set_rate(f, now);
  transmission_.wake(f, now);
}

void Source::arm(Flow& f) {
  if (f.stage == Stage::kFree) return;
  const Nanos recovery = min(f.recover_at, f.timeout_at());
  if (f.send_at <= recovery) {
    parts_.lcore.wheel.adjust(f.timer, f.send_at);
  } else if (!f.timer.armed() || f.timer.deadline() > recovery) {
    // A timer that is set too early fires, finds nothing to do and comes back here: cheaper than
    // moving it with every ACK.
    parts_.lcore.wheel.schedule(f.timer, recovery);
  }
}

void Source::note_delays(const Flow& f) {
  const Nanos queueing = f.rtt.latest() - f.rtt.least();
  if (parts_.delays != nullptr) {
    parts_.delays->round_trips.record(static_cast<uint64_t>(f.rtt.latest().count()));
    parts_.delays->queueing.record(static_cast<uint64_t>(queueing.count()));
  }
  const Nanos smoothed_queueing = max(f.rtt.smoothed() - f.rtt.least(), 0_ns);
  parts_.totals.rtt.store(f.rtt.smoothed().count(), std::memory_order_relaxed);
  parts_.totals.queueing.store(smoothed_queueing.count(), std::memory_order_relaxed);
  parts_.totals.price.store(f.allowance.price, std::memory_order_relaxed);
}

void Source::update_strategy(Flow& f, Nanos now) {
  if (!f.wants_budget || !parts_.strategy->watching()) return;
  f.member.demand = f.limit();
  parts_.strategy->update(f.member, f.pacer.rate(), Price(f.allowance.price), f.rtt.smoothed(),
                          now);
}

void Source::finish(Flow& f, FlowEnd how, Nanos now) {
  RecordPool& records = parts_.lcore.records;
  for (RecordList* list : {&f.in_flight, &f.lost}) {
    while (!list->empty()) {
      const uint32_t head = list->head();
      list->remove(records, head);
      records.give_back(head);
    }
  }
  parts_.lcore.wheel.cancel(f.timer);
  report(f, how, now);
  parts_.leave_budget(f);
  ledger_.left(f);
  f.law().~FlowLaw();
  parts_.lcore.flows.close(f);
}

void Source::report(Flow& f, FlowEnd how, Nanos now) {
  if (f.reported) return;
  f.reported = true;
  const bool completed = how == FlowEnd::kClosed && !f.cut_short;
  if (completed) parts_.totals.completed_flows.add();
  parts_.totals.active_flows.fetch_sub(1, std::memory_order_relaxed);
  parts_.lcore.groups[f.source].active_flows.fetch_sub(1, std::memory_order_relaxed);
  parts_.lcore.outcomes.flow_ended({.id = f.id,
                                    .host = f.host,
                                    .to = f.to,
                                    .source = f.source,
                                    .start = f.asked,
                                    .end = now,
                                    .bytes = f.delivered,
                                    .packets = f.delivered_packets,
                                    .retransmissions = f.retransmissions,
                                    .completed = completed,
                                    .ended = how});
}

}  // namespace turnpike::sender
