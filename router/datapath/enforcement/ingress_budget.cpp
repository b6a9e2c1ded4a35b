// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/enforcement/ingress_budget.h"

#include <algorithm>
#include <array>
#include <bit>

#include "common/wire/bytes.h"
#include "router/datapath/enforcement/enforcement.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/link/checksum_range.h"
#include "router/datapath/lookup/address_batch.h"

namespace turnpike::router {

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// A burst may have this many packets, however expensive they are.
constexpr float kMinPackets = 3;
// Rate of the bucket of openings, as a multiple of the budget.
constexpr float kOpenings = 2;
// Bounds of the round trip for which a SYN promises, s.
constexpr float kMinRtt = 1e-3F, kMaxRtt = 20e-3F;
// The shortest round trip is forgotten at this rate per packet.
constexpr float kForget = 1e-3F;
// Largest free ACK, B on the link: with a full list of SACK ranges.
constexpr uint32_t kMaxAck = 256;
// Bound of the free ACKs that a customer has left, kept once in kTrimEvery data packets.
constexpr int32_t kMaxAcksOwed = 1 << 20;
constexpr uint32_t kTrimEvery = 1 << 16;

uint32_t load(const std::atomic<uint32_t>& v) { return v.load(kRelaxed); }
// Single writer: no read-modify-write is needed.
void add(std::atomic<uint32_t>& v, uint32_t n) { v.store(v.load(kRelaxed) + n, kRelaxed); }

/// Free ACKs that the customer has left, over all workers.
int32_t acks_owed(Enforcement& enforcement, uint32_t customer) {
  uint32_t owed = 0;
  for (unsigned w = 0; w < enforcement.workers(); ++w) {
    const SharedAccount& a = enforcement.shared(w, customer);
    owed += load(a.ack_credit) - load(a.acks_used);
  }
  return static_cast<int32_t>(owed);
}

/// Adds a free ACK for a data packet to the customer.
void credit_ack(Enforcement& enforcement, unsigned worker, uint32_t customer) {
  SharedAccount& account = enforcement.shared(worker, customer);
  add(account.ack_credit, 1);
  if (load(account.ack_credit) % kTrimEvery != 0) return;
  // Before the sum wraps around.
  const int32_t surplus = acks_owed(enforcement, customer) - kMaxAcksOwed;
  if (surplus > 0) add(account.acks_used, static_cast<uint32_t>(surplus));
}

/// Whether the debt is small enough, whatever the packet adds to it: otherwise a sender of far too
/// many packets would have only its cheapest ones admitted. Of one bucket or, by lane, of all.
template <class T>
[[gnu::always_inline]] inline auto fits(T debt, T cost, T burst) {
  const T few = (kMinPackets - 1) * cost;
  return (cost <= kMaxCost) & (debt <= (burst < few ? few : burst));
}

/// A customer's money is its own: only routers beyond may say what it is worth elsewhere.
void set_to_one(uint8_t* congestion, uint8_t at) {
  constexpr uint16_t kOne = 0x3f80;  // bfloat16
  if (wire::load_be16(congestion + at) == kOne) [[likely]]
    return;
  const HeaderRange range{at, static_cast<uint8_t>(at + 2)};
  const uint64_t before = sum_of(congestion, range);
  wire::store_be16(congestion + at, kOne);
  update_checksum(congestion, before, sum_of(congestion, range));
}

/// One worker's view of one burst. `kShares`: Enforcement::shares().
template <bool kShares>
class Charger {
 public:
  Charger(Burst& burst, WorkerContext& context)
      : burst_(burst),
        context_(context),
        enforcement_(*context.enforcement),
        limits_(enforcement_.limits()),
        accounts_(enforcement_.accounts(context.index)),
        tick_(CustomerAccount::tick_of(burst.now)),
        milli_(Misbehaviour::tick_of(burst.now)) {
    // Packets that waited during a stall of this worker come at once, at the time of its end.
    if (burst.since < burst.now) [[unlikely]] {
      const auto stalled = static_cast<float>(to_seconds(burst.now - burst.since));
      limits_.burst += stalled;
      limits_.promise_burst += stalled;
      limits_.unpriced_burst += stalled;
    }
    bursts_ = PerBucket{limits_.burst, limits_.promise_burst};
  }

  void charge(uint32_t set) {
    const uint32_t others = read(set);
    for (size_t k = 0; k < batch_.count; ++k) {
      const uint32_t customer = customers_[k];
      settle(customer, places_[k], [&](Account& account) {
        if (account.misbehaviour.opened() && batch_.first[k] != 0) [[unlikely]]
          return spend(account, customer, batch_.sizes[k],
                       reader_->one(batch_.headers[k], batch_.sizes[k], false));
        return spend(account, customer, batch_.rows[k],
                     [&](float part) { account.misbehaviour.send(batch_.rows[k], milli_, part); });
      });
    }
    for_each(others, [&](unsigned i) {
      const PacketInfo& p = burst_.info[i];
      if (p.customer == 0) return;
      settle(p.customer, i, [&](Account& account) { return refusal(account, i, p); });
    });
  }

 private:
  using Account = CustomerAccount;

  // Lets time pass for the account of packet i's customer, and drops the packet if `decide`, which
  // charges the account, refuses it.
  template <class Decide>
  [[gnu::always_inline]] void settle(uint32_t customer, unsigned i, Decide&& decide) {
    Account& account = accounts_[customer];
    [[maybe_unused]] const float seconds = account.pass(tick_);
    if constexpr (kShares) enforcement_.shared(context_.index, customer).pass(seconds);
    const Refusal why = decide(account);
    if (why == Refusal::kNone) [[likely]]
      return;
    enforcement_.count(context_.index, customer, why, burst_.info[i].size);
    burst_.drop(i, DropReason::kOverBudget);
  }

  // Reads the charges of customers' data packets of one protocol, the first in the set, and sets
  // exchange rates to 1. Returns the other packets.
  uint32_t read(uint32_t set) {
    constexpr unsigned kNone = 256;
    unsigned protocol = kNone;
    uint32_t others = 0;
    size_t n = 0;
    for_each_dense(set, [&](unsigned i) {
      const PacketInfo& p = burst_.info[i];
      if (p.protocol != protocol || p.congestion == 0 || p.customer == 0 || p.has(kOpens))
          [[unlikely]] {
        const bool data = p.congestion != 0 && p.customer != 0 && !p.has(kOpens);
        if (data && protocol == kNone) reader_ = enforcement_.charges(p.protocol);
        if (!data || protocol != kNone || reader_ == nullptr) {
          others |= uint32_t{1} << i;
          return;
        }
        protocol = p.protocol;
      }
      places_[n] = static_cast<uint16_t>(i);
      customers_[n] = p.customer;
      batch_.headers[n] = frame_of(burst_.mbufs[i]) + p.congestion;
      batch_.sizes[n++] = p.size;
    });
    batch_.count = n;
    if (n > 0 && !reader_->data(batch_)) [[unlikely]]
      for (size_t k = 0; k < n; ++k) reset_exchange(places_[k]);
    for_each(others, [&](unsigned i) {
      if (burst_.info[i].congestion != 0) reset_exchange(i);
    });
    return others;
  }

  void reset_exchange(unsigned i) {
    const PacketInfo& p = burst_.info[i];
    const uint8_t at = enforcement_.exchange_at(p.protocol);
    if (at != 0) set_to_one(frame_of(burst_.mbufs[i]) + p.congestion, at);
  }

  // Of a packet that is not in the batch.
  Refusal refusal(Account& account, unsigned i, const PacketInfo& p) {
    const ChargeReader* reader = p.congestion != 0 ? enforcement_.charges(p.protocol) : nullptr;
    if (reader == nullptr) return unpriced(account, p);
    const Charge charge =
        reader->one(frame_of(burst_.mbufs[i]) + p.congestion, p.size, p.has(kOpens));
    if (!p.has(kOpens)) return spend(account, p.customer, p.size, charge);
    if (account.misbehaviour.blocked(milli_)) [[unlikely]]
      return Refusal::kMisbehaviour;
    const Refusal why = open(account, p, charge);
    if (why == Refusal::kNone) account.misbehaviour.open(charge.first_bytes);
    return why;
  }

  [[gnu::noinline]] Refusal spend(Account& account, uint32_t customer, uint32_t size,
                                  const Charge& charge) {
    const ChargeRow row{.paid = charge.paid,
                        .committed = charge.committed,
                        .announced = charge.announced(),
                        .rtt = charge.rtt};
    return spend(account, customer, row, [&](float part) {
      account.misbehaviour.send(charge, static_cast<float>(size), milli_, part);
    });
  }

  // `compare` passes the given part of the packet's announcement to account.misbehaviour.
  template <class Compare>
  [[gnu::always_inline]] Refusal spend(Account& account, uint32_t customer, const ChargeRow& row,
                                       Compare&& compare) {
    if (account.misbehaviour.blocked(milli_)) [[unlikely]]
      return Refusal::kMisbehaviour;
    static_assert(sizeof row == sizeof(PerBucket));
    const PerBucket cost =
        __builtin_shufflevector(std::bit_cast<PerBucket>(row), PerBucket{}, 0, 1, 4, 5) *
        account.per_dollar;
    const auto admitted = fits(account.debt, cost, bursts_);
    if (std::bit_cast<std::array<uint64_t, 2>>(admitted)[0] != ~uint64_t{0}) [[unlikely]] {
      // A sender that announces what it is not allowed to send misbehaves, too. A refused packet
      // counts for no more than a full bucket: it costs its sender nothing, and would hide the
      // others' difference.
      const float full = bursts_[0];
      if (cost[0] < std::numeric_limits<float>::infinity())
        compare(cost[0] > full ? full / cost[0] : 1.0F);
      return admitted[0] == 0 ? Refusal::kSpending : Refusal::kCommitment;
    }
    compare(1.0F);
    account.rtt = account.rtt > 0 ? std::min(account.rtt * (1 + kForget), row.rtt) : row.rtt;
    account.debt += cost;
    if constexpr (kShares) {
      enforcement_.publish(context_.index, customer, Bucket::kPaid, cost[0]);
      enforcement_.publish(context_.index, customer, Bucket::kCommitted, cost[1]);
    }
    return Refusal::kNone;
  }

  // A packet without a charge costs more by the tolerance, so that it gets what the budget buys.
  Refusal unpriced(Account& account, const PacketInfo& p) {
    if (!limits_.charge_unpriced || is_free_ack(p)) return Refusal::kNone;
    const float cost =
        price_of(p) * static_cast<float>(p.size) * account.per_dollar * (1 + limits_.tolerance);
    if (account.owed(Bucket::kPaid) > limits_.unpriced_burst || cost > kMaxCost)
      return Refusal::kUnpriced;
    enforcement_.withdraw(context_.index, p.customer, Bucket::kPaid, cost);
    return Refusal::kNone;
  }

  Refusal open(Account& account, const PacketInfo& p, const Charge& charge) {
    const float price = price_of(p);
    const float rtt = std::clamp(account.rtt, kMinRtt, kMaxRtt);
    const float budget = charge.budget > 0 ? charge.budget : 1 / account.per_dollar;
    const float first = std::min(charge.first_bytes * price, budget * rtt);
    const float cost =
        (first + price * static_cast<float>(p.size)) * account.per_dollar / kOpenings;
    if (!fits(account.owed(Bucket::kOpenings), cost, limits_.promise_burst))
      return Refusal::kOpenings;
    account.debt[static_cast<size_t>(Bucket::kOpenings)] += cost;
    return Refusal::kNone;
  }

  bool is_free_ack(const PacketInfo& p) {
    if (!p.has(kTurnpike) || p.congestion != 0 || p.size > kMaxAck) return false;
    if (acks_owed(enforcement_, p.customer) <= 0) return false;
    add(enforcement_.shared(context_.index, p.customer).acks_used, 1);
    return true;
  }

  // In the customer's money. Packets of a burst usually leave by the same link.
  float price_of(const PacketInfo& p) {
    if (p.hop->action == NextHop::Action::kTree) return 0;  // `link` is none
    if (p.link != link_) {
      link_ = p.link;
      price_ = static_cast<float>(context_.queues[p.link].price_now());
    }
    const bool groups = context_.queues[p.link].has_groups();
    return groups ? price_ * enforcement_.per_link_dollar(p.customer) : price_;
  }

  ChargeBatch batch_;
  // Of the batch's rows: places in the burst, and customers.
  std::array<uint16_t, kBurst> places_;
  std::array<uint32_t, kBurst> customers_;
  const ChargeReader* reader_ = nullptr;
  Burst& burst_;
  WorkerContext& context_;
  Enforcement& enforcement_;
  ChargeLimits limits_;
  PerBucket bursts_;
  CustomerAccount* accounts_;
  uint32_t tick_, milli_;
  uint32_t link_ = UINT32_MAX;
  float price_ = 0;
};

}  // namespace

void charge_customers(Burst& burst, WorkerContext& context) {
  const uint32_t set = burst.forward | burst.oversized | burst.multicast;
  if (context.enforcement->shares()) {
    Charger<true>(burst, context).charge(set);
  } else {
    Charger<false>(burst, context).charge(set);
  }
}

void credit_acks(const Burst& burst, WorkerContext& context) {
  Enforcement& enforcement = *context.enforcement;
  const CustomerTable& table = enforcement.customers();
  const auto credit = [&](unsigned, uint64_t customer) {
    if (customer != 0) credit_ack(enforcement, context.index, static_cast<uint32_t>(customer));
  };
  uint32_t by_address = burst.forward;  // data packets whose receivers' addresses are looked up
  uint32_t link = UINT32_MAX;           // the last edge without a customer of its own
  for_each_dense(burst.forward, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    if (p.congestion != 0 && p.link == link) [[likely]]
      return;
    if (p.congestion != 0 && enforcement.edge(p.link)) {
      const uint32_t own = table.of_link(p.link);
      if (own == 0) {
        link = p.link;
        return;
      }
      credit(i, own);
    }
    by_address &= ~(uint32_t{1} << i);
  });
  const uint32_t collected = by_address & burst.with_ipv4, others = by_address & ~collected;
  if (collected != 0) {
    uint64_t found[kBurst], any = 0;
    const auto n = static_cast<size_t>(std::bit_width(collected));
    table.find(std::span(burst.destinations4).first(n), found);
    for (size_t i = 0; i < n; ++i) any |= found[i];
    if (any != 0) for_each(collected, [&](unsigned i) { credit(i, found[i]); });
  }
  if (others == 0) return;
  const AddressBatch rest(
      burst, others, [](const uint8_t* ip) { return ip + wire::kIpv4DestinationAt; },
      [](unsigned, const uint8_t* ip) { return ip + wire::kIpv6DestinationAt; });
  rest.find<uint64_t>(table, credit);
}

}  // namespace turnpike::router
