// SPDX-License-Identifier: BSD-3-Clause
// A law with scripted actions, to test the router's reaction.
#pragma once

#include <algorithm>
#include <vector>

#include "common/protocols/fcp/header.h"
#include "common/protocols/registry.h"

namespace turnpike::router::test {

struct LawScript {
  AqmAction action = AqmAction::kPass;
  bool marks_or_drops = true;
  std::vector<double> weights{1};                     // by class
  unsigned (*classify)(const LinkPacket&) = nullptr;  // null: all in class 0
  bool groups = false;
  double price = 0;  // $/B
};

/// A law copies the script when it is made; `law` is the latest.
class ScriptedLaw final : public LinkLaw {
 public:
  static inline LawScript script{};
  static inline ScriptedLaw* law = nullptr;

  explicit ScriptedLaw(const ParamValues&, unsigned)
      : LinkLaw({.classes = static_cast<unsigned>(script.weights.size()),
                 .marks_or_drops = script.marks_or_drops,
                 .groups = script.groups}),
        script_(script) {
    law = this;
  }

  void set_groups(std::span<const double> weights) override {
    group_weights.assign(weights.begin(), weights.end());
  }
  uint64_t arrive(unsigned, std::span<LinkPacket> burst, const LinkState& link, Nanos) override {
    for (LinkPacket& p : burst) p.action = script_.action;
    seen.assign(burst.begin(), burst.end());
    state = link;
    return 0;
  }
  Nanos update(const LinkState&, Nanos now) override { return now + 1_ms; }
  [[nodiscard]] unsigned classify(const LinkPacket& p) const override {
    return script_.classify != nullptr ? script_.classify(p) : 0;
  }
  [[nodiscard]] double price(unsigned) const override { return script_.price; }
  [[nodiscard]] double weight(unsigned c) const override { return script_.weights[c]; }
  size_t gauges(std::span<Gauge>) const override { return 0; }

  void set_weight(unsigned c, double weight) { script_.weights[c] = weight; }
  std::vector<LinkPacket> seen;       // the last burst, as arrive() left it
  LinkState state;                    // that came with it
  std::vector<double> group_weights;  // of set_groups()

  /// For RouterOptions::find: every link's law is this one, with FCP's header.
  static const Protocol* find(std::string_view name) {
    static constexpr Protocol kProtocol{.name = "scripted",
                                        .id = fcp::kProtocolId,
                                        .header_size = fcp::kHeaderSize,
                                        .link_params = {},
                                        .flow_params = {},
                                        .presets = {},
                                        .make_link_law = make_link_law<ScriptedLaw>,
                                        .make_flow_law = nullptr,
                                        .make_classed_law = make_classed};
    return name == "fcp" ? &kProtocol : nullptr;
  }

 private:
  static std::unique_ptr<LinkLaw> make_classed(const ParamValues& params,
                                               std::span<const ClassRule>, unsigned shards,
                                               uint64_t) {
    return std::make_unique<ScriptedLaw>(params, shards);
  }

  LawScript script_;
};

}  // namespace turnpike::router::test
