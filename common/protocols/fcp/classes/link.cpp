// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/classes/link.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <typeinfo>
#include <utility>

#include "common/protocols/fcp/classes/common_price.h"
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

}  // namespace

struct ClassedLink::Class {
  ClassRule rule;
  std::unique_ptr<ClassLaw> law;   // standard, stability, priority
  std::unique_ptr<Grants> grants;  // deadline
  std::unique_ptr<Legacy> legacy;
  std::string gauge, second;  // names

  /// Takes the sums of a class of this name and policy; false: `before` is another one.
  bool go_on_from(Class& before, std::span<const uint16_t> groups);
};

// One lcore's state; fields that other lcores read are on lines of their own.
struct alignas(64) ClassedLink::Shard {
  Nanos now{0};
  struct Outer {
    double capacity = 0;                                                   // B/s, for FCP's prices
    double all_price = kMinPrice.count(), rest_price = kMinPrice.count();  // starts of clear()
  };
  std::array<Outer, kMaxClasses> outer;  // classes
  // The last of each class, in the link's unit of money.
  std::array<double, kMaxClasses> price{};
  std::array<Nanos, kMaxClasses> heard{};        // last call of its law
  std::array<PriceWindow, kMaxClasses> windows;  // of stability classes
  Nanos published_at{0};

  struct alignas(64) Published {
    std::array<std::atomic<double>, kMaxClasses> price{}, bandwidth{}, steepest{};
    std::array<std::atomic<double>, kMaxClasses> least{}, greatest{};  // of the window
  } published;

  /// Makes class `c` go on from class `old` of another shard.
  void take_class(unsigned c, const Shard& from, unsigned old);
};

/// The price of one class.
class ClassedLink::Rule final : public PriceRule {
 public:
  Rule(ClassedLink& link, unsigned c) : link_(&link), class_(c) {}
  double price(unsigned shard, double usable, double slack) override {
    return link_->price_of(shard, class_, usable, slack);
  }
  /// Sets the prices of a class of `link`, where it has the same number.
  void move_to(ClassedLink& link) {
    link_ = &link;
    link.classes_[class_].law->set_rule(this);
  }

 private:
  ClassedLink* link_;
  unsigned class_;
};

namespace {

LinkTraits traits_of(std::span<const ClassRule> rules, const LinkTraits& law) {
  return {.rewritten = law.rewritten,
          .classes = static_cast<unsigned>(rules.size()),
          .marks_or_drops = std::ranges::any_of(
              rules, [](const ClassRule& r) { return r.policy == PricingPolicy::kLegacy; }),
          .groups = law.groups,
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
      if (own.rule.policy == PricingPolicy::kStability) stable_ |= 1U << c;
      own.gauge = "price_" + own.rule.name;
      if (own.rule.policy == PricingPolicy::kStability) own.second = "change_" + own.rule.name;
      if (own.rule.policy == PricingPolicy::kPriority) own.law->set_factor(own.rule.factor);
    }
  }
  for (unsigned c = 0; c < rules.size(); ++c) {
    if (rules[c].parent >= outer_.size()) outer_.resize(rules[c].parent + 1);
    Outer& outer = outer_[rules[c].parent];
    outer.weight = rules[c].parent_weight;
    outer.classes |= 1U << c;
    outer.last = c;
  }
  for (unsigned i = 0; i < shards; ++i) shards_.push_back(std::make_unique<Shard>());
}

ClassedLink::~ClassedLink() = default;

void ClassedLink::set_groups(std::span<const double> weights) {
  for (Class& c : classes_)
    if (c.law) c.law->set_groups(weights);
}

bool ClassedLink::Class::go_on_from(Class& before, std::span<const uint16_t> groups) {
  if (before.rule.name != rule.name || before.rule.policy != rule.policy) return false;
  if (law && before.law->take_settings(*law, groups)) std::swap(law, before.law);
  if (grants) {
    before.grants->take_settings(*grants);
    std::swap(grants, before.grants);
  }
  if (legacy && before.rule.discipline == rule.discipline) {
    before.legacy->set_share(rule.share);
    std::swap(legacy, before.legacy);
  }
  return true;
}

void ClassedLink::Shard::take_class(unsigned c, const Shard& from, unsigned old) {
  price[c] = from.price[old];
  heard[c] = from.heard[old];
  windows[c] = from.windows[old];
  const auto copy = [&](auto member) {
    write((published.*member)[c], read((from.published.*member)[old]));
  };
  for (const auto member : {&Published::price, &Published::bandwidth, &Published::steepest,
                            &Published::least, &Published::greatest})
    copy(member);
}

// All parts of both links change places; then classes that go on take theirs back.
bool ClassedLink::take_settings(LinkLaw& made, std::span<const uint16_t> groups) {
  auto* before = dynamic_cast<ClassedLink*>(&made);
  if (before == nullptr || before->shards_.size() != shards_.size()) return false;
  const ClassLaw &law = *classes_.back().law, &other = *before->classes_.back().law;
  if (typeid(law) != typeid(other)) return false;
  take_traits(made);
  std::swap(classes_, before->classes_);
  std::swap(outer_, before->outer_);
  std::swap(priced_, before->priced_);
  std::swap(stable_, before->stable_);
  std::swap(has_deadline_, before->has_deadline_);
  std::swap(audits_, before->audits_);
  std::swap(rules_, before->rules_);
  std::swap(shards_, before->shards_);
  for (size_t i = 0; i < shards_.size(); ++i) {
    shards_[i]->now = before->shards_[i]->now;
    shards_[i]->outer = before->shards_[i]->outer;
  }
  for (unsigned c = 0; c < classes_.size(); ++c)
    for (unsigned old = 0; old < before->classes_.size(); ++old)
      if (classes_[c].go_on_from(before->classes_[old], groups))
        for (size_t i = 0; i < shards_.size(); ++i)
          shards_[i]->take_class(c, *before->shards_[i], old);
  for (const auto& rule : rules_) rule->move_to(*this);
  return true;
}

double ClassedLink::price(unsigned shard) const { return classes_.back().law->price(shard); }

double ClassedLink::clear(unsigned index, double usable, double slack, unsigned classes,
                          double start) const {
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
  return std::max(common_price(demand, usable, slack, start), kMinPrice.count());
}

// The paper's two virtual queues, for any number of classes. A stability class whose price may
// not follow the link's gets the bandwidth that its budget buys at its own price; the others clear
// the rest. In a tree, the classes of each outer class do so for themselves.
double ClassedLink::price_of(unsigned index, unsigned c, double usable, double slack) {
  Shard& s = *shards_[index];
  const unsigned parent = classes_[c].rule.parent;
  Shard::Outer& outer = s.outer[parent];
  const unsigned priced = priced_ & outer_[parent].classes;
  const double capacity = outer.capacity;
  outer.all_price = clear(index, usable, slack, priced, outer.all_price);
  const double all = outer.all_price;
  unsigned rest = priced;
  double taken = 0;
  for (unsigned left = stable_ & priced; left != 0; left &= left - 1) {
    const auto k = static_cast<unsigned>(std::countr_zero(left));
    const Class& own = classes_[k];
    const double price = recent(index, k, window_of(index, k)).bound(all, own.rule.factor);
    if (k == c) return s.price[c] = price;
    if (price == all) continue;
    rest &= ~(1U << k);
    taken += std::min(own.law->demand(index, price).at(price), kMaxStable * capacity);
  }
  if (rest == priced) return s.price[c] = all;
  const double least = std::max(capacity - taken, (1 - kMaxStable) * capacity) / 2;
  outer.rest_price = clear(index, std::max(usable - taken, least), slack, rest, outer.rest_price);
  return s.price[c] = outer.rest_price;
}

// Divides the link among outer classes by weight: each gets what it wants, or as much per weight as
// all others that want more. Returns that level, B/s per weight; infinity: all get what they want.
double ClassedLink::fill(std::span<const double> wanted, double capacity) const {
  double weights = 0;
  for (const Outer& o : outer_) weights += o.weight;
  unsigned left = (1U << outer_.size()) - 1;
  for (bool changed = true; changed && left != 0;) {
    changed = false;
    for (unsigned o = 0; o < outer_.size(); ++o) {
      if ((left >> o & 1) == 0 || wanted[o] * weights > capacity * outer_[o].weight) continue;
      capacity -= wanted[o];
      weights -= outer_[o].weight;
      left &= ~(1U << o);
      changed = true;
    }
  }
  return left == 0 ? std::numeric_limits<double>::infinity() : std::max(capacity, 0.0) / weights;
}

// Sets the capacities that FCP prices, and the queues of priced packets: what legacy load and
// grants leave.
void ClassedLink::divide(unsigned index, const LinkState& link,
                         std::array<LinkState, kMaxClasses>& states) {
  Shard& s = *shards_[index];
  std::array<double, kMaxClasses> taken{}, wanted{};
  for (unsigned o = 0; o < outer_.size(); ++o)
    states[o] = {.capacity = link.capacity, .queue = 0, .buffer = link.buffer};
  for (unsigned c = 0; c < classes_.size(); ++c) {
    const Class& own = classes_[c];
    const unsigned o = own.rule.parent;
    if (own.grants) taken[o] += std::min(own.grants->granted(), own.rule.cap);
    if (own.legacy) {
      taken[o] += own.legacy->taken(link.capacity);
    } else {
      states[o].queue += link.queues[c];
    }
    // At the lowest price; a class with elastic demand wants all.
    if (outer_.size() > 1 && own.law)
      wanted[o] +=
          std::min(own.law->demand(index, kMinPrice.count()).at(kMinPrice.count()), link.capacity);
  }
  double level = std::numeric_limits<double>::infinity();
  if (outer_.size() > 1) {
    for (unsigned o = 0; o < outer_.size(); ++o) wanted[o] += taken[o];
    level = fill(wanted, link.capacity);
  }
  for (unsigned o = 0; o < outer_.size(); ++o) {
    const double share = std::min(level * outer_[o].weight, link.capacity);
    s.outer[o].capacity = states[o].capacity = std::max(share - taken[o], kMinPriced * share);
  }
}

Nanos ClassedLink::window_of(unsigned index, unsigned c) const {
  return from_seconds(2 * classes_[c].law->average_rtt(index));
}

// The prices of a stability class within the window, of all shards.
PriceRange ClassedLink::recent(unsigned index, unsigned c, Nanos window) {
  Shard& s = *shards_[index];
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
  // A link without demand has no price to hold on to: its first flow would pay next to nothing, at
  // its host's rate, until the price has doubled sixty times.
  if (price > kMinPrice.count()) s.windows[c].record(now, window, price);
  publish_range(s, c, s.windows[c].range(now, window));
}

// Decides about the packets of deadline classes; those without a grant move to the last class of
// their outer class.
void ClassedLink::admit(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                        uint64_t& refused) {
  std::array<double, kMaxClasses> moved{};  // B, by class
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
      // The packet fitted into the class's own queue; the other one has a limit too.
      const unsigned last = outer_[own.rule.parent].last;
      p.queue_class = static_cast<uint8_t>(last);
      p.admitted = p.admitted && link.queues[last] + moved[last] + p.size <= link.buffer;
      if (p.admitted) moved[last] += p.size;
    }
  }
  for (Class& c : classes_)
    if (c.grants) c.grants->settle(index);
}

uint64_t ClassedLink::arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                             Nanos now) {
  Shard& s = *shards_[index];
  s.now = now;
  uint64_t refused = 0;
  for (Class& own : classes_)
    if (own.grants) own.grants->advance(index, now);
  if (has_deadline_) [[unlikely]]
    admit(index, burst, link, refused);
  std::array<LinkState, kMaxClasses> priced;  // by outer class
  divide(index, link, priced);

  // Promises of other classes expire first, since every price depends on them.
  unsigned present = 0;
  for (const LinkPacket& p : burst) present |= 1U << p.queue_class;
  for (unsigned left = priced_ & ~present; left != 0; left &= left - 1) {
    const auto c = static_cast<unsigned>(std::countr_zero(left));
    if (!burst.empty() && now - s.heard[c] < kRefresh) continue;
    classes_[c].law->arrive(index, {}, priced[classes_[c].rule.parent], now);
    s.heard[c] = now;
  }
  if (std::has_single_bit(present)) {
    const auto c = static_cast<unsigned>(std::countr_zero(present));
    if (!classes_[c].legacy) {
      refused |= arrive_class(index, c, burst, priced[classes_[c].rule.parent], now);
      present = 0;
    }
  }
  if (present != 0) {
    SortedBurst sorted(burst, [](const LinkPacket& p) { return p.queue_class; });
    for (unsigned left = present; left != 0; left &= left - 1) {
      const auto c = static_cast<unsigned>(std::countr_zero(left));
      LinkState state = priced[classes_[c].rule.parent];
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
  const uint64_t refused = own.law->arrive(index, packets, link, now);
  if (own.rule.policy == PricingPolicy::kStability) record_price(s, index, c, now);
  return refused;
}

void ClassedLink::publish(unsigned index, const LinkState& link, Nanos now) {
  Shard& s = *shards_[index];
  s.published_at = now;
  for (unsigned c = 0; c < classes_.size(); ++c) {
    const Class& own = classes_[c];
    if (!own.law) continue;
    const double price = std::max(s.price[c], kMinPrice.count());
    // A free link is free for every class.
    const bool multiple = own.rule.policy == PricingPolicy::kPriority && price > kFree;
    write(s.published.price[c], multiple ? own.rule.factor * price : price);
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
