// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/reserve_link.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/protocols/fcp/price_noise.h"
#include "common/protocols/random.h"

namespace turnpike::fcp {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// Tolerance for binary32 and the sender's rounding.
constexpr double kRounding = 1.01;
// Bound of a SYN's slot: a first round takes at least 1/kMaxParts of a round trip.
constexpr double kMaxParts = 64;
// Full packet, B, on links without jumbo frames.
constexpr double kPacket = 1500;
// Lowest rate limit in a SYN, B/s, since 0 means none.
constexpr double kMinLimit = 1;
// Longest life of a promise, s; beyond any wheel's reach.
constexpr double kMaxLife = 1000;
// Capacity that may be booked, s of it: the longest wait that a SYN's field can hold.
constexpr double kMaxBooked = 4;
// Bound of the discount on a burst's own promises, as a share of the capacity. One packet's
// discount may be more: on a link whose flows have few packets in flight.
constexpr double kMaxDiscount = 0.05;
// Least life of a promise, as a part of `promise_life`: 1.5 gaps of 2.
constexpr double kMinLife = 0.75;
// Share of the capacity from which a single packet's promise matters to the price.
constexpr double kLargeFlow = 1.0 / 32;
// Variation of the sum of many flows' or packets' promises, as a share of the capacity: twice what
// flows of a thousand packets in a round trip need. That between a flow's packets comes on top.
constexpr double kRipple = 1.0 / 256;
// Average round trips until a new link's price history counts as full.
constexpr double kYoung = 4;
// kEase: while the book is empty it drains slower than the link by this share. kBookDrain: the part
// of the price's capacity reduction for the queue that also slows the book.
constexpr double kEase = 0.04, kBookDrain = 0.25;
// Lead of first rounds' promises before their turn, in average round trips of capacity.
constexpr double kAhead = 1.0 / 32;
// Memory of groups' budgets, in average round trips.
constexpr double kGroupMemory = 4;

// Single writer: no read-modify-write is needed.
void count(std::atomic<uint64_t>& counter, uint64_t n = 1) {
  counter.store(counter.load(kRelaxed) + n, kRelaxed);
}

HeaderRange rewritten_by(const ParamValues& params) {
  const bool money = params[kAudit] != 0 || static_cast<Groups>(params[kGroups]) == Groups::kDomain;
  return money ? HeaderRange{kPriceOffset, kSlotOffset} : HeaderRange{kPriceOffset, kPreloadOffset};
}

Promise promise_of(double rate, double budget) {
  return {.bucket = Knees::bucket_of(budget / rate),
          .rate = static_cast<float>(rate),
          .budget = static_cast<float>(budget)};
}

}  // namespace

static_assert(kReserveOffset == kPriceOffset + 4 && kAgeOffset == kReserveOffset + 4 &&
                  kChargedOffset == kExchangeOffset + 2,
              "one range holds all that the law rewrites");

ReserveLink::ReserveLink(const ParamValues& params, unsigned shards, uint64_t seed)
    : ClassLaw({.rewritten = rewritten_by(params),
                .groups = static_cast<Groups>(params[kGroups]) != Groups::kOff,
                .knows_stalls = true}),
      params_(params),
      life_(params[kPromiseLife]),
      growth_(params[kGrowth] * kRounding),
      without_(static_cast<Part>(params[kWithout])),
      scope_(static_cast<Groups>(params[kGroups])),
      storage_(std::make_unique_for_overwrite<Shard[]>(shards)) {
  shards_ = {storage_.get(), shards};
  for (unsigned i = 0; i < shards; ++i) {
    shards_[i].average_rtt = params_[kFirstRtt];
    shards_[i].packet = kPacket;
    shards_[i].margin = CapacityMargin(params_[kQueueTarget]);
    shards_[i].charge.start(static_cast<Audit>(params_[kAudit]));
    shards_[i].random = SplitMix64(seed, i).next() | 1;
  }
}

void ReserveLink::set_groups(std::span<const double> weights) {
  if (scope_ != Groups::kOff) groups_ = GroupRates(weights, static_cast<unsigned>(shards_.size()));
}

bool ReserveLink::take_settings(LinkLaw& made, std::span<const uint16_t> groups) {
  auto* m = dynamic_cast<ReserveLink*>(&made);
  if (m == nullptr) return false;
  take_traits(made);
  take_factor(*m);
  for (size_t i = 0; i < shards_.size(); ++i) {
    Shard& s = shards_[i];
    s.margin.set_target(m->params_[kQueueTarget]);
    if (params_[kAudit] != m->params_[kAudit]) std::swap(s.charge, m->shards_[i].charge);
    if (m->without_ != without_) {  // what a part has left behind
      s.ceiling = std::numeric_limits<double>::infinity();
      s.overbooked = 1;
      s.margin = m->shards_[i].margin;
    }
  }
  std::swap(params_, m->params_);
  life_ = m->life_;
  growth_ = m->growth_;
  without_ = m->without_;
  scope_ = m->scope_;
  groups_.take(m->groups_, groups);
  return true;
}

// The rates at which the rows' prices were converted when they were stamped are not known exactly.
// A packet whose price is older than the rates that are kept is charged no more than its balance.
void ReserveLink::charge_leniently(unsigned index, PromiseBatch& rows,
                                   std::span<const LinkPacket> burst) {
  HeaderBatch& h = rows.headers;
  const double kept = kGroupMemory / 2 * shards_[index].average_rtt * 1e9;  // ns
  for (size_t k = 0; k < h.count; ++k) {
    const Header header = h.header_of(k);
    h.highest[k] = std::max(h.value[k], header.exchange * groups_.highest(index, burst[k].group));
    if (std::max(header.rtt_ns, header.age_ns) > kept)
      h.highest[k] = std::numeric_limits<float>::infinity();
  }
}

// Converts the burst's money into the link's currency. Rows that it refuses get a balance that is
// not credible. A packet commits what its promise adds to the demand, the budget of its flow for
// its slot, and at least its own cost: otherwise groups of flows that end would seem to spend
// nothing.
void ReserveLink::convert(Shard& shard, unsigned index, PromiseBatch& rows,
                          std::span<const LinkPacket> burst, Nanos now) {
  HeaderBatch& h = rows.headers;
  std::array<float, HeaderBatch::kMax> rates;
  rates.fill(worth());
  const double memory = kGroupMemory * shard.average_rtt;
  for (size_t k = 0; k < h.count && !groups_.empty(); ++k) {
    const Header header = h.header_of(k);
    GroupRates::Commitment made;
    if (h.rtt_ns[k] == 0) {
      made.budget = double{header.balance} * header.exchange;
    } else {
      const double price = std::max(header.balance, header.reserve);
      const double change = std::clamp<double>(1 + double{header.preload}, 1, growth_);
      made.dollars = price * header.exchange * h.sizes[k] * change;
      made.slot = header.slot;
      made.budget = header.slot > 0 ? made.dollars / header.slot : 0;
    }
    if (burst[k].header == nullptr || !credible(header)) made = {};
    rates[k] *= groups_.rate(index, burst[k].group, made, memory, now);
  }
  h.convert(rates.data(), scope_ == Groups::kDomain);
  if (shard.charge.on() && !groups_.empty()) charge_leniently(index, rows, burst);
  // Money so inflated that its price does not fit into the header: no sender could react to it.
  for (size_t k = 0; k < h.count; ++k)
    if (shard.price > double{h.value[k]} * kMaxPrice) [[unlikely]]
      h.balance[k] = std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN());
}

// Advances to `now`: promises expire, and the link carries booked bytes. Slow variables, and the
// other shards' sums, are refreshed once per tick of the wheel, about a hundredth of a round trip.
void ReserveLink::advance(Shard& shard, unsigned index, const LinkState& link, double usable,
                          Nanos now) {
  const double passed = to_seconds(now - shard.last);
  const double published = shard.promises.sums().rtt_rate;
  if (passed > 0) {
    const double demand = rule() == nullptr ? shard.clearing.demand(shard.price)
                                            : shard.clearing.near(shard.price).at(shard.price);
    shard.overbooking.announce(std::min(demand, link.capacity * shard.overbooked) * passed);
    // Draining a short book slightly slower than the link leaves the link idle often enough for its
    // queue to empty.
    const double booked = shard.first_rounds.booked().sum() + shard.booked_elsewhere.sum();
    const double ease = has(Part::kEase) ? kEase : 0;
    const double empty = 1 - std::min(booked / (link.capacity * shard.average_rtt), 1.0);
    const double queue = kBookDrain * (link.capacity - usable);
    const double carried = (link.capacity - queue) * (1 - ease * empty) * passed;
    shard.first_rounds.drain(carried, shard.booked_elsewhere);
    shard.last = now;
  }
  shard.promises.advance(now, from_seconds(shard.average_rtt),
                         [&](size_t bucket) { shard.changed |= uint64_t{1} << bucket; });
  shard.fading += (published - shard.promises.sums().rtt_rate) / 2 * passed;
  if (shard.promises.tick() != shard.refreshed) refresh(shard, index, link, now);
}

void ReserveLink::refresh(Shard& shard, unsigned index, const LinkState& link, Nanos now) {
  publish(shard);
  const double passed = to_seconds(now - shard.aged);
  shard.overbooking.age(passed, shard.average_rtt);
  shard.first_rounds.age(passed, shard.average_rtt);
  shard.usual.pass(shard.price, passed, shard.average_rtt);
  if (has(Part::kUsualPrice)) shard.ceiling = shard.usual.ceiling();
  if (has(Part::kMargin)) {
    const double carried_lately = shard.overbooking.carried();
    const double first = carried_lately > 0 ? shard.first_rounds.arrived() / carried_lately : 0;
    shard.margin.pass(link.queue / link.capacity, first, passed, shard.average_rtt);
  }
  if (has(Part::kDiscount) && passed > 0)
    shard.faded -= std::expm1(-passed / shard.average_rtt) * (shard.fading / passed - shard.faded);
  shard.fading = 0;
  shard.aged = now;

  PromiseWheel::Sums all = shard.promises.sums();
  Shard::Published& own = shard.published;
  own.rtt_rate.store(all.rtt_rate, kRelaxed);
  own.rtt_sum.store(all.rtt_sum, kRelaxed);
  own.carried.store(shard.overbooking.carried(), kRelaxed);
  own.faded.store(shard.faded, kRelaxed);
  double carried = 0;
  shard.booked_elsewhere = {};
  shard.faded_elsewhere = 0;
  for (size_t i = 0; i < shards_.size(); ++i) {
    if (i == index) continue;
    const Shard::Published& other = shards_[i].published;
    for (size_t b = 0; b < Knees::kBuckets; ++b) {
      all.rate[b] += other.rate[b].load(kRelaxed);
      all.budget[b] += other.budget[b].load(kRelaxed);
    }
    all.rtt_rate += other.rtt_rate.load(kRelaxed);
    all.rtt_sum += other.rtt_sum.load(kRelaxed);
    carried += other.carried.load(kRelaxed);
    shard.faded_elsewhere += other.faded.load(kRelaxed);
    shard.booked_elsewhere.ending += other.ending.load(kRelaxed);
    shard.booked_elsewhere.longer += other.longer.load(kRelaxed);
  }
  shard.clearing.reset(all.rate, all.budget);
  if (all.rtt_rate > 0) {
    shard.measured = true;
    shard.average_rtt =
        std::clamp(all.rtt_sum / all.rtt_rate, params_[kMinWindow] / 2, params_[kMaxWindow] / 2);
  }
  if (has(Part::kOverbooking))
    shard.overbooked = shard.overbooking.factor(link.capacity, shard.average_rtt, carried);
  shard.refreshed = shard.promises.tick();
}

// A new link's traffic may have a much shorter round trip than assumed: the tick, in which the link
// would learn nothing, may be many of it.
void ReserveLink::expect_rtt(Shard& shard, const HeaderBatch& rows) const {
  for (size_t k = 0; k < rows.count; ++k)
    if (rows.rtt_ns[k] >= kMinRttNs)
      shard.average_rtt =
          std::max(std::min(shard.average_rtt, rows.rtt_ns[k] * 1e-9), params_[kMinWindow] / 2);
}

// `window`: B over which the mean is taken.
void ReserveLink::take_packet_size(Shard& shard, uint64_t bytes, size_t packets, double window) {
  const auto sum = static_cast<double>(bytes), count = static_cast<double>(packets);
  if (sum <= kPacket * count && shard.packet == kPacket) [[likely]]
    return;
  if (packets == 0) return;
  const double mean = std::max(sum / count, kPacket);
  shard.packet += (mean - shard.packet) * sum / (sum + window);
}

// Publishes the changed buckets. `clearing` adds differences, so that the other shards' part stays.
void ReserveLink::publish(Shard& shard) {
  const PromiseWheel::Sums& own = shard.promises.sums();
  for (uint64_t left = shard.changed; left != 0; left &= left - 1) {
    const auto b = static_cast<size_t>(std::countr_zero(left));
    std::atomic<double>&rate = shard.published.rate[b], &budget = shard.published.budget[b];
    shard.clearing.add(b, own.rate[b] - rate.load(kRelaxed), own.budget[b] - budget.load(kRelaxed));
    rate.store(own.rate[b], kRelaxed);
    budget.store(own.budget[b], kRelaxed);
  }
  shard.changed = 0;
}

// Handles a SYN, which announces its flow's first round: `bytes`, sent within 1/`parts` of a round
// trip. Lowers the rate limit and raises the wait in the SYN.
void ReserveLink::open(Shard& shard, LinkPacket& packet, const Header& h, const LinkState& link) {
  const double average = shard.average_rtt;
  const double most = params_[kStartShare] * link.capacity;
  double limit = h.reserve > 0 ? std::min<double>(h.reserve, most) : most;
  const double asked = double{h.preload} * packet.size;
  if (packet.admitted && asked > 0) {
    const double bytes = std::min(asked, params_[kFirstBytes]);
    if (asked > bytes * kRounding) count(shard.published.clipped);
    const double parts = std::clamp<double>(h.slot, 1, kMaxParts);
    const bool ends = parts > 1 && has(Part::kTurns);
    const double rate = std::min(limit, parts * bytes / average);
    if (!shard.measured) limit = rate;  // the flow's round trip may be far below the average
    const double budget = h.balance > 0 ? h.balance : rate * shard.price;
    const double affordable = std::min(rate, budget / shard.price);
    const FirstRounds::Booked &own = shard.first_rounds.booked(), &others = shard.booked_elsewhere;
    const double waiting = own.ending + others.ending;
    const double credit =
        has(Part::kCredit) ? shard.first_rounds.credit(link.capacity, average) : 1;
    const double knee = std::min(budget / rate, shard.ceiling);
    const double counted = credit * rate, paid = counted * knee;
    // The promises of the first data packets take over one round trip later, and are complete half
    // a life after that. A packet for which the flow saves comes later still.
    const double latest =
        std::max(average * (1 + life_ / 2), std::min(bytes, kPacket) / affordable);
    if (ends) {
      const double wait = waiting / link.capacity * 1e9;
      wire::store_be32(packet.header + kAgeOffset,
                       std::max(h.age_ns, static_cast<uint32_t>(std::min(wait, 4e9))));
      if (waiting < kMaxBooked * link.capacity)  // including the SYN and the FIN
        shard.first_rounds.book_ending(bytes, credit * (bytes + 2 * packet.size), counted, paid,
                                       std::clamp(bytes / affordable, average / parts, latest));
    } else {
      // No flow can be repriced before its first ACK. If the k-th of n simultaneous SYNs got 1/k of
      // the capacity, they would get ln n times the capacity in total; 1/k^2 bounds the sum.
      const double over = (own.longer + others.longer + waiting) / (link.capacity * average);
      if (over > 1) limit = affordable / (over * over);
      const double comes = std::min(bytes, affordable * average);
      if (own.sum() + others.sum() < kMaxBooked * link.capacity)
        shard.first_rounds.book_longer(comes, credit * comes);
      promise(shard, promise_of(counted, paid), latest);
    }
  }
  wire::store_f32(packet.header + kReserveOffset, static_cast<float>(std::max(limit, kMinLimit)));
}

// Adds promises for the flows whose turn begins.
void ReserveLink::begin_turns(Shard& shard, const LinkState& link) {
  if (!shard.first_rounds.waiting()) return;
  const double own = shard.first_rounds.booked().ending;
  const double part = own > 0 ? own / (own + shard.booked_elsewhere.ending) : 0;
  const auto turn =
      shard.first_rounds.begin_turns(kAhead * shard.average_rtt * link.capacity * part);
  if (turn.bytes <= 0) return;
  const double seconds = turn.byte_seconds / turn.bytes;
  promise(shard, promise_of(turn.demand / seconds, turn.money / seconds), seconds);
}

void ReserveLink::promise(Shard& shard, const Promise& made, double life) {
  const auto ns = static_cast<int64_t>(std::min(life, kMaxLife) * 1e9);
  shard.promises.add(made, shard.promises.expiry(Nanos(ns)));
  shard.changed |= uint64_t{1} << made.bucket;
}

// Adds data packets' promises: each announces its flow's rate one round trip from now as a function
// of the price. `now` is the caller's clock: time fields of senders include the law clock's stops.
PromiseBatch::Totals ReserveLink::on_data(Shard& shard, PromiseBatch& rows, double capacity,
                                          Nanos now) const {
  shard.history.at(now, {rows.ago.data(), rows.headers.count}, rows.headers.paid.data());
  // A link that has just come up has too few past prices to check balances against them.
  const bool young = to_seconds(now - shard.history.first()) < kYoung * shard.average_rtt;
  const double unknown = young ? std::numeric_limits<double>::infinity() : shard.price;
  if (shard.charge.on()) shard.charge.add(rows.headers, rows.ago.data(), unknown, now);
  const PromiseBatch::Totals totals =
      rows.reckon({.scale = shard.promises.scale(),
                   .life = static_cast<float>(life_),
                   .growth = static_cast<float>(growth_),
                   .average_rtt = static_cast<float>(shard.average_rtt),
                   .price = static_cast<float>(shard.price),
                   .unknown = static_cast<float>(unknown),
                   .large = static_cast<float>(kLargeFlow * capacity)});
  shard.changed |= rows.add_to(shard.promises, totals);
  shard.first_rounds.count_arrival(totals.first_bytes);
  if (totals.clipped != 0) [[unlikely]]
    count(shard.published.clipped, totals.clipped);
  return totals;
}

uint64_t ReserveLink::arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                             Nanos clock_now) {
  Shard& shard = shards_[index];
  PromiseBatch rows;  // one for each packet; a SYN's row is validated but promises nothing
  const HeaderBatch::Arrivals arrived = rows.read(burst);
  if (rows.headers.foreign || !groups_.empty() || worth() != 1) [[unlikely]]
    convert(shard, index, rows, burst, clock_now);
  const Nanos now = burst.empty()
                        ? shard.clock.at(clock_now)
                        : shard.clock.arrive(clock_now, static_cast<double>(arrived.bytes));
  take_packet_size(shard, arrived.bytes, burst.size(), link.capacity * life_ * shard.average_rtt);
  // Subtracts the rate that drains the queue within about a round trip. The packet in transmission
  // does not count as queue.
  const double queue = std::max(link.queue - shard.packet, 0.0);
  const double drain = params_[kAlpha] * queue / (params_[kWindow] * shard.average_rtt);
  const double free = shard.margin.share() * link.capacity;
  const double usable = std::max(link.capacity - free - drain, params_[kFloor] * link.capacity);
  if (!shard.measured) [[unlikely]]
    expect_rtt(shard, rows.headers);
  advance(shard, index, link, usable, now);

  const PromiseBatch::Totals totals = on_data(shard, rows, link.capacity, clock_now);
  const double life = life_ * shard.average_rtt;
  if (!burst.empty())
    shard.clock.expect(std::min(static_cast<double>(arrived.admitted_bytes), totals.rate * life),
                       life, shard.packet);
  if (arrived.unpriced_bytes > 0) [[unlikely]] {
    const double window = params_[kWindow] * shard.average_rtt;  // d
    const double rate = static_cast<double>(arrived.unpriced_bytes) / window;
    promise(shard, {.bucket = Knees::kInelastic, .rate = static_cast<float>(rate)}, window);
  }
  for (uint64_t left = arrived.opens & ~totals.refused; left != 0; left &= left - 1) {
    const auto k = static_cast<size_t>(std::countr_zero(left));
    open(shard, burst[k], rows.headers.header_of(k), link);
  }
  begin_turns(shard, link);
  publish(shard);
  shard.overbooking.carry(static_cast<double>(arrived.admitted_bytes));
  // Right after its packet, a flow has promised half a packet more than on average. Other shards'
  // promises have faded since they were published.
  const double excess = has(Part::kDiscount) ? double{totals.rate} / 2 : 0;
  const double most = std::max(kMaxDiscount * link.capacity, shard.packet / (kMinLife * life) / 2);
  const double discount = std::min(excess, most);
  const double offered = usable * shard.overbooked + discount + shard.faded_elsewhere;
  // The price of demand below its knees jumps from nothing to the knees. Where flows want just what
  // the link has, such as one at line rate, the sum of their promises varies about the capacity,
  // and each link of their rate on the path would charge the whole knee. So a demand that exceeds
  // the offer by no more than it varies is free.
  const double varies = discount + kRipple * link.capacity;
  shard.price = std::clamp<double>(rule() == nullptr ? shard.clearing.price(offered, varies)
                                                     : rule()->price(index, offered, varies),
                                   kMinPrice.count(), kMaxPrice);
  if (params_[kNoise] != 0) [[unlikely]]
    shard.price *= price_noise(params_, shard.random, now);
  if (!burst.empty()) {
    shard.history.record(clock_now, shard.price);
    shard.charge.record(clock_now, shard.price);
  }
  shard.published.price.store(shard.price, kRelaxed);
  shard.published.ending.store(shard.first_rounds.booked().ending, kRelaxed);
  shard.published.longer.store(shard.first_rounds.booked().longer, kRelaxed);

  rows.headers.stamp(shard.price, burst, totals.refused);
  return totals.refused;
}

size_t ReserveLink::gauges(std::span<Gauge> out) const {
  double price = 0, rate = 0, rtt_rate = 0, rtt_sum = 0, booked = 0, clipped = 0;
  for (const Shard& s : shards_) {
    price = std::max(price, s.published.price.load(kRelaxed));
    for (const auto& r : s.published.rate) rate += r.load(kRelaxed);
    rtt_rate += s.published.rtt_rate.load(kRelaxed);
    rtt_sum += s.published.rtt_sum.load(kRelaxed);
    booked += s.published.ending.load(kRelaxed) + s.published.longer.load(kRelaxed);
    clipped += static_cast<double>(s.published.clipped.load(kRelaxed));
  }
  return write_gauges(out, {{"price", price},
                            {"demand_mbps", rate * 8e-6},
                            {"booked_bytes", booked},
                            {"average_rtt_ms", rtt_rate > 0 ? 1e3 * rtt_sum / rtt_rate : 0},
                            {"clipped", clipped}});
}

}  // namespace turnpike::fcp
