// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/classes/link.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "common/protocols/fcp/classes/priority.h"
#include "common/protocols/fcp/params.h"
#include "common/protocols/random.h"
#include "common/protocols/relaxed.h"
#include "common/protocols/sorted_burst.h"

namespace turnpike::fcp {
namespace {

constexpr Nanos kRefresh = 50_us;    // longest time without a call of a class's law
constexpr Nanos kPublish = 500_us;   // interval of published bandwidths
constexpr Nanos kInterval = 1_ms;    // of update(): weights and loads
constexpr double kMinPriced = 0.05;  // of the link, left to FCP's classes in any case
constexpr double kMaxStable = 0.95;  // of FCP's capacity, that a stability class may take
constexpr double kMinWeight = 0.02;  // of the link: a class that begins must not wait
constexpr int kMaxSteps = 64;        // of clear(): at most one per bucket of all classes

}  // namespace

struct ClassedLink::Class {
  ClassRule rule;
  std::unique_ptr<ClassLaw> law;   // standard, stability, priority
  std::unique_ptr<Grants> grants;  // deadline
  std::unique_ptr<Legacy> legacy;
  std::string gauge, second;  // names
};

// One lcore's state; fields that other lcores read are on lines of their own.
struct alignas(64) ClassedLink::Shard {
  Nanos now{0};
  double capacity = 0;                                                   // B/s, for FCP's prices
  double all_price = kMinPrice.count(), rest_price = kMinPrice.count();  // start values of clear()
  // The last of each class, in the link's unit of money.
  std::array<double, kMaxClasses> price{};
  std::array<Nanos, kMaxClasses> heard{};        // last call of its law
  std::array<PriceWindow, kMaxClasses> windows;  // of stability classes
  Nanos published_at{0};

  struct alignas(64) Published {
    std::array<std::atomic<double>, kMaxClasses> price{}, bandwidth{}, steepest{};
    std::array<std::atomic<double>, kMaxClasses> least{}, greatest{};  // of the window
  } published;
};

/// The price of one class.
class ClassedLink::Rule final : public PriceRule {
 public:
  Rule(ClassedLink& link, unsigned c) : link_(link), class_(c) {}
  double price(unsigned shard, double usable) override {
    return link_.price_of(shard, class_, usable);
  }

 private:
  ClassedLink& link_;
  unsigned class_;
};

namespace {

LinkTraits traits_of(std::span<const ClassRule> rules, const LinkTraits& law) {
  return {.rewritten = law.rewritten,
          .classes = static_cast<unsigned>(rules.size()),
          .marks_or_drops = std::ranges::any_of(
              rules, [](const ClassRule& r) { return r.policy == PricingPolicy::kLegacy; }),
          .knows_stalls = law.knows_stalls};
}

}  // namespace

ClassedLink::ClassedLink(MakeLaw make, const ParamValues& params, std::span<const ClassRule> rules,
                         unsigned shards, uint64_t seed)
    : LinkLaw(traits_of(rules, make(params, 1, seed)->traits())), audits_(params[kAudit] != 0) {
  for (unsigned c = 0; c < rules.size(); ++c) {
    Class& own = classes_.emplace_back();
    own.rule = rules[c];
    const uint64_t random = SplitMix64(seed, c).next();
    if (own.rule.policy == PricingPolicy::kDeadline) {
      own.grants =
          std::make_unique<Grants>(own.rule.cap, own.rule.price, params[kFirstRtt], shards);
      own.gauge = "granted_mbps_" + own.rule.name;
      own.second = "refused_" + own.rule.name;
      has_deadline_ = true;
    } else if (own.rule.policy == PricingPolicy::kLegacy) {
      own.legacy = std::make_unique<Legacy>(own.rule, shards, random);
      own.gauge = "load_mbps_" + own.rule.name;
    } else {
      own.law = make(params, shards, random);
      rules_.push_back(std::make_unique<Rule>(*this, c));
      own.law->set_rule(rules_.back().get());
      priced_ |= 1U << c;
      own.gauge = "price_" + own.rule.name;
      if (own.rule.policy == PricingPolicy::kStability) own.second = "change_" + own.rule.name;
    }
  }
  for (unsigned i = 0; i < shards; ++i) shards_.push_back(std::make_unique<Shard>());
}

ClassedLink::~ClassedLink() = default;

void ClassedLink::set_groups(std::span<const double> weights) {
  for (Class& c : classes_)
    if (c.law) c.law->set_groups(weights);
}

double ClassedLink::price(unsigned shard) const { return classes_.back().law->price(shard); }

// Solves sum of D_c(p) = usable over a set of classes by Newton's method on 1/p. The demand is
// concave and piecewise linear in 1/p: from the second step on the price rises monotonically, and
// it is exact once the pieces are found. From burst to burst they rarely change.
double ClassedLink::clear(unsigned index, double usable, unsigned classes, double start) const {
  const auto demand = [&](double price) {
    Demand sum;
    for (unsigned left = classes; left != 0; left &= left - 1) {
      const Class& c = classes_[static_cast<size_t>(std::countr_zero(left))];
      const Demand d = c.law->demand(index, price);
      sum.elastic += d.elastic;
      sum.inelastic += d.inelastic;
    }
    return sum;
  };
  // Elastic demand gets at least a hundredth, as in ClearingPrice.
  const auto price_at = [&](const Demand& d) {
    return d.elastic / std::max(usable - d.inelastic, 0.01 * usable);
  };
  double price = start;
  for (int i = 0; i < kMaxSteps; ++i) {
    Demand d = demand(price);
    if (d.elastic <= 0) {
      if (d.inelastic <= usable) return 0;
      d = demand(std::numeric_limits<double>::infinity());
      if (d.elastic <= 0) return 0;
    }
    const double next = price_at(d);
    if (std::abs(next - price) <= 1e-9 * price) return next;
    price = next;
  }
  return price;
}

// The paper's two virtual queues, for any number of classes. A stability class whose price may
// not follow the link's gets the bandwidth that its budget buys at its own price; the others clear
// the rest.
double ClassedLink::price_of(unsigned index, unsigned c, double usable) {
  Shard& s = *shards_[index];
  s.all_price = std::max(clear(index, usable, priced_, s.all_price), kMinPrice.count());
  const double all = s.all_price;
  unsigned rest = priced_;
  double taken = 0;
  for (unsigned k = 0; k < classes_.size(); ++k) {
    const Class& own = classes_[k];
    if (own.rule.policy != PricingPolicy::kStability) continue;
    const double price = recent(index, k, window_of(index, k)).bound(all, own.rule.factor);
    if (k == c) return s.price[c] = price;
    if (price == all) continue;
    rest &= ~(1U << k);
    taken += std::min(own.law->demand(index, price).at(price), kMaxStable * s.capacity);
  }
  if (rest == priced_) return s.price[c] = all;
  const double left =
      std::max({usable - taken, (s.capacity - taken) / 2, (1 - kMaxStable) / 2 * s.capacity});
  s.rest_price = std::max(clear(index, left, rest, s.rest_price), kMinPrice.count());
  return s.price[c] = s.rest_price;
}

Nanos ClassedLink::window_of(unsigned index, unsigned c) const {
  return from_seconds(2 * classes_[c].law->average_rtt(index));
}

// The prices of a stability class within the window, of all shards.
PriceRange ClassedLink::recent(unsigned index, unsigned c, Nanos window) const {
  const Shard& s = *shards_[index];
  PriceRange all = s.windows[c].range(s.now, window);
  for (unsigned i = 0; i < shards_.size(); ++i) {
    if (i == index) continue;
    const PriceRange other{read(shards_[i]->published.least[c]),
                           read(shards_[i]->published.greatest[c])};
    if (other.greatest > 0) all.include(other);
  }
  return all;
}

void ClassedLink::record_price(Shard& s, unsigned index, unsigned c, Nanos now) {
  const Nanos window = window_of(index, c);
  const double price = s.price[c];
  const PriceRange before = recent(index, c, window);
  if (!before.empty()) {
    const double change = std::max(price / before.least, before.greatest / price);
    if (change > read(s.published.steepest[c])) write(s.published.steepest[c], change);
  }
  s.windows[c].record(now, window, price);
  publish_range(s, c, s.windows[c].range(now, window));
}

// Decides about the packets of deadline classes; those without a grant move to the last class.
void ClassedLink::admit(unsigned index, std::span<LinkPacket> burst, uint64_t& refused) {
  const auto last = static_cast<uint8_t>(classes_.size() - 1);
  for (size_t i = 0; i < burst.size(); ++i) {
    LinkPacket& p = burst[i];
    Class& own = classes_[p.queue_class];
    if (!own.grants) continue;
    const Grants::Decision decision =
        p.header == nullptr ? Grants::Decision::kBestEffort : own.grants->decide(index, p);
    if (decision == Grants::Decision::kRefused) {
      refused |= uint64_t{1} << i;
      p.admitted = false;
    } else if (decision == Grants::Decision::kBestEffort) {
      p.queue_class = last;
    }
  }
}

uint64_t ClassedLink::arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                             Nanos now) {
  Shard& s = *shards_[index];
  s.now = now;
  uint64_t refused = 0;
  double taken = 0, queue = 0;
  for (unsigned c = 0; c < classes_.size(); ++c) {
    Class& own = classes_[c];
    if (own.grants) own.grants->advance(index, now);
    if (own.legacy) {
      taken += own.legacy->taken(link.capacity);
    } else {
      queue += link.queues[c];
    }
  }
  if (has_deadline_) admit(index, burst, refused);
  for (const Class& own : classes_)
    if (own.grants) taken += std::min(own.grants->granted(), own.rule.cap);
  s.capacity = std::max(link.capacity - taken, kMinPriced * link.capacity);
  LinkState priced{.capacity = s.capacity, .queue = queue, .buffer = link.buffer};

  // Promises of other classes expire first, since every price depends on them.
  unsigned present = 0;
  for (const LinkPacket& p : burst) present |= 1U << p.queue_class;
  for (unsigned left = priced_ & ~present; left != 0; left &= left - 1) {
    const auto c = static_cast<unsigned>(std::countr_zero(left));
    if (!burst.empty() && now - s.heard[c] < kRefresh) continue;
    classes_[c].law->arrive(index, {}, priced, now);
    s.heard[c] = now;
  }
  if (std::has_single_bit(present)) {
    const auto c = static_cast<unsigned>(std::countr_zero(present));
    if (!classes_[c].legacy) {
      refused |= arrive_class(index, c, burst, priced, now);
      present = 0;
    }
  }
  if (present != 0) {
    SortedBurst sorted(burst, [](const LinkPacket& p) { return p.queue_class; });
    for (unsigned left = present; left != 0; left &= left - 1) {
      const auto c = static_cast<unsigned>(std::countr_zero(left));
      LinkState state = priced;
      if (classes_[c].legacy) {
        const double share = classes_[c].legacy->share();
        state = {.capacity = share * link.capacity,
                 .queue = link.queues[c],
                 .buffer = share * link.buffer};
      }
      const uint64_t bits = arrive_class(index, c, sorted.packets(c), state, now);
      refused |= sorted.give_back(burst, c, bits);
    }
  }
  if (burst.empty() || now - s.published_at >= kPublish) publish(index, link, now);
  return refused;
}

uint64_t ClassedLink::arrive_class(unsigned index, unsigned c, std::span<LinkPacket> packets,
                                   const LinkState& link, Nanos now) {
  Class& own = classes_[c];
  Shard& s = *shards_[index];
  if (own.legacy) {  // copies of the packets: the discipline must not read another scheme's header
    for (LinkPacket& p : packets) p.header = nullptr;
    own.legacy->law().arrive(index, packets, link, now);
    own.legacy->count(index, packets);
    return 0;
  }
  if (own.grants) {
    own.grants->stamp(packets, audits_);
    return 0;
  }
  s.heard[c] = now;
  if (own.rule.policy != PricingPolicy::kPriority) {
    const uint64_t refused = own.law->arrive(index, packets, link, now);
    if (own.rule.policy == PricingPolicy::kStability) record_price(s, index, c, now);
    return refused;
  }
  PriorityExchange exchange(own.rule.factor);
  exchange.enter(packets);
  const uint64_t refused = own.law->arrive(index, packets, link, now);
  exchange.leave(packets, refused);
  return refused;
}

void ClassedLink::publish(unsigned index, const LinkState& link, Nanos now) {
  Shard& s = *shards_[index];
  s.published_at = now;
  for (unsigned c = 0; c < classes_.size(); ++c) {
    const Class& own = classes_[c];
    if (!own.law) continue;
    const double price = std::max(s.price[c], kMinPrice.count());
    const bool priority = own.rule.policy == PricingPolicy::kPriority;
    write(s.published.price[c], priority ? PriorityExchange(own.rule.factor).price(price) : price);
    write(s.published.bandwidth[c],
          std::min(own.law->demand(index, price).at(price), link.capacity));
    if (own.rule.policy == PricingPolicy::kStability)
      publish_range(s, c, s.windows[c].range(now, window_of(index, c)));
  }
}

void ClassedLink::publish_range(Shard& s, unsigned c, const PriceRange& range) {
  write(s.published.least[c], range.empty() ? 0 : range.least);
  write(s.published.greatest[c], range.greatest);
}

Nanos ClassedLink::update(const LinkState& link, Nanos now) {
  write(capacity_, link.capacity);
  for (Class& own : classes_)
    if (own.legacy) own.legacy->update(now);
  return now + kInterval;
}

double ClassedLink::weight(unsigned c) const {
  const Class& own = classes_[c];
  if (own.rule.weight > 0) return own.rule.weight;
  if (own.rule.policy == PricingPolicy::kPriority) return std::numeric_limits<double>::infinity();
  if (own.legacy) return own.legacy->share();
  double bandwidth = own.grants ? own.grants->granted() : 0;
  for (const auto& s : shards_) bandwidth = std::max(bandwidth, read(s->published.bandwidth[c]));
  return std::max(bandwidth / std::max(read(capacity_), 1.0), kMinWeight);
}

size_t ClassedLink::gauges(std::span<Gauge> out) const {
  const auto greatest = [&](auto member, size_t c) {
    double most = 0;
    for (const auto& s : shards_) most = std::max(most, read((s->published.*member)[c]));
    return most;
  };
  size_t n = 0;
  const auto put = [&](std::string_view name, double value) {
    if (n < out.size()) out[n++] = {name, value};
  };
  put("price", greatest(&Shard::Published::price, classes_.size() - 1));
  for (unsigned c = 0; c < classes_.size(); ++c) {
    const Class& own = classes_[c];
    if (own.grants) {
      put(own.gauge, own.grants->granted() * 8e-6);
    } else if (own.legacy) {
      put(own.gauge, own.legacy->load() * 8e-6);
    } else {
      put(own.gauge, greatest(&Shard::Published::price, c));
    }
  }
  for (unsigned c = 0; c < classes_.size(); ++c) {
    const Class& own = classes_[c];
    if (own.grants) put(own.second, own.grants->refused());
    if (own.rule.policy == PricingPolicy::kStability)
      put(own.second, greatest(&Shard::Published::steepest, c));
  }
  return n;
}

}  // namespace turnpike::fcp
