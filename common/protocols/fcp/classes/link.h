// SPDX-License-Identifier: BSD-3-Clause
// FCP at a link whose traffic has classes with pricing policies of their own.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/protocols/fcp/classes/deadline.h"
#include "common/protocols/fcp/classes/legacy.h"
#include "common/protocols/fcp/classes/stability.h"
#include "common/protocols/fcp/price_rule.h"
#include "common/protocols/link_class.h"
#include "common/protocols/param.h"

namespace turnpike::fcp {

/// Each class has a queue, and a law or an account of its packets:
///
/// - standard, stability, priority: a law of FCP's each, which counts the class's promises. Their
///   common price is the one at which the demand of all these classes meets the capacity that the
///   others leave; a stability class whose price may not follow takes or leaves bandwidth at its
///   own price, and the rest clear what remains.
/// - deadline: granted rates (classes/deadline.h). Packets without a grant move to the last class.
/// - legacy: a queue discipline and a measured load (classes/legacy.h).
///
/// In a tree, the link's capacity is divided among outer classes by weight as far as they want it,
/// and all of this holds in each outer class for itself.
///
/// Classes whose packets have not come for kRefresh let their law expire promises then.
class ClassedLink final : public LinkLaw {
 public:
  /// `make` makes a law of FCP's for a class. From 2 to kMaxClasses rules, the last one standard.
  using MakeLaw = std::unique_ptr<ClassLaw> (*)(const ParamValues&, unsigned shards, uint64_t seed);
  ClassedLink(MakeLaw make, const ParamValues& params, std::span<const ClassRule> rules,
              unsigned shards, uint64_t seed);
  ~ClassedLink() override;

  void set_groups(std::span<const double> weights) override;
  /// Classes go on by name if their policy is the same.
  bool take_settings(LinkLaw& made, std::span<const uint16_t> groups) override;
  /// That of the last class.
  [[nodiscard]] double price(unsigned shard) const override;
  uint64_t arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override;
  Nanos update(const LinkState& link, Nanos now) override;

  /// By the packet's own field: the link's classes are matched before.
  [[nodiscard]] unsigned classify(const LinkPacket& p) const override { return p.queue_class; }
  [[nodiscard]] double weight(unsigned c) const override;

  /// By class: its last price, the rate granted or the load; steepest change of a stability class's
  /// price within a window; requests refused.
  size_t gauges(std::span<Gauge> out) const override;

 private:
  struct Class;
  struct Shard;
  class Rule;

  [[nodiscard]] double price_of(unsigned index, unsigned c, double usable, double slack);
  [[nodiscard]] double fill(std::span<const double> wanted, double capacity) const;
  void divide(unsigned index, const LinkState& link, std::array<LinkState, kMaxClasses>& states);
  [[nodiscard]] double clear(unsigned index, double usable, double slack, unsigned classes,
                             double start) const;
  void admit(unsigned index, std::span<LinkPacket> burst, const LinkState& link, uint64_t& refused);
  uint64_t arrive_class(unsigned index, unsigned c, std::span<LinkPacket> packets,
                        const LinkState& link, Nanos now);
  void record_price(Shard& shard, unsigned index, unsigned c, Nanos now);
  [[nodiscard]] PriceRange recent(unsigned index, unsigned c, Nanos window);
  [[nodiscard]] Nanos window_of(unsigned index, unsigned c) const;
  static void publish_range(Shard& shard, unsigned c, const PriceRange& range);
  void publish(unsigned index, const LinkState& link, Nanos now);

  struct Outer {
    double weight = 1;
    unsigned classes = 0;  // bit c: class c is in it
    unsigned last = 0;     // class
  };

  std::vector<Class> classes_;
  std::vector<Outer> outer_;  // one without a tree
  unsigned priced_ = 0;       // bit c: class c has a law of FCP's
  unsigned stable_ = 0;       // bit c: and its policy is stability
  bool has_deadline_ = false;
  bool audits_;
  std::vector<std::unique_ptr<Rule>> rules_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::atomic<double> capacity_{0};  // B/s of the link; the owner writes
};

}  // namespace turnpike::fcp
