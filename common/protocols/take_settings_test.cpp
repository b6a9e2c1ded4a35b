// SPDX-License-Identifier: BSD-3-Clause
// Every law takes every parameter while it runs, and keeps its sums unless the parameter says that
// it restarts.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/protocols/registry.h"
#include "common/units/instrumented.h"
#include "common/wire/bytes.h"

namespace turnpike::take_settings_test {
namespace {

constexpr LinkState kLink{.capacity = 12.5e6, .queue = 3000, .buffer = 125e3};
constexpr unsigned kShards = 2;
constexpr Nanos kSpan = kInstrumented ? 250_ms : 1_s;

std::unique_ptr<LinkLaw> make(const Protocol& p, const ParamValues& params) {
  return p.make_link_law(params, kShards, 1);
}

/// Another valid value.
double other(const ParamSpec& spec, double value) {
  if (spec.unit == ParamUnit::kWord) return value == spec.max ? spec.min : value + 1;
  if (value == 0) return spec.max > 1 ? 1 : spec.max;
  return value * 2 <= spec.max ? value * 2 : value / 2;
}

/// Packets without a header on both shards for kSpan, so that the law has counted something.
void play(LinkLaw& law, Nanos from) {
  for (Nanos now = from; now < from + kSpan; now += 1_ms) {
    for (unsigned shard = 0; shard < kShards; ++shard) {
      std::vector<LinkPacket> burst(8);
      for (LinkPacket& p : burst) p.size = 1500;
      law.arrive(shard, burst, kLink, now);
      if (law.traits().wants_dequeue) law.depart(shard, burst, kLink, now);
    }
    law.update(kLink, now);
  }
}

std::vector<double> gauges(const LinkLaw& law) {
  std::vector<Gauge> all(LinkLaw::kMaxGauges);
  all.resize(law.gauges(all));
  std::vector<double> values;
  values.reserve(all.size());
  for (const Gauge& g : all) values.push_back(g.value);
  return values;
}

TEST(TakeSettings, EveryParameterOfEveryLawAsItsSpecSays) {
  for (const Protocol& p : protocols())
    for (const std::string_view preset : preset_names())
      for (size_t i = 0; i < p.link_params.size(); ++i) {
        if (kInstrumented && preset != preset_names()[i % preset_names().size()]) continue;
        SCOPED_TRACE(std::string(p.name) + " " + std::string(preset) + " " +
                     std::string(p.link_params[i].name));
        const ParamValues before = preset_values(p, true, preset);
        ParamValues after = before;
        after[i] = other(p.link_params[i], before[i]);
        ASSERT_NE(after[i], before[i]);
        const auto law = make(p, before), made = make(p, after);
        play(*law, 1_s);
        const auto kept = gauges(*law);
        EXPECT_EQ(law->take_settings(*made, {}), !p.link_params[i].restarts);
        if (!p.link_params[i].restarts) {
          const auto fresh = make(p, after);
          EXPECT_EQ(law->traits().rewritten.end, fresh->traits().rewritten.end);
          EXPECT_EQ(law->traits().marks_or_drops, fresh->traits().marks_or_drops);
          EXPECT_EQ(law->traits().groups, fresh->traits().groups);
          EXPECT_EQ(law->traits().classes, fresh->traits().classes);
        }
        play(*law, 3_s);  // goes on
      }
}

TEST(TakeSettings, KeepsAllFiguresIfNothingChanges) {
  for (const Protocol& p : protocols())
    for (const std::string_view preset : preset_names()) {
      SCOPED_TRACE(std::string(p.name) + " " + std::string(preset));
      const ParamValues params = preset_values(p, true, preset);
      const auto law = make(p, params), same = make(p, params), twin = make(p, params);
      play(*law, 1_s);
      play(*twin, 1_s);
      const auto kept = gauges(*law);
      ASSERT_TRUE(law->take_settings(*same, {}));
      EXPECT_EQ(gauges(*law), kept);
      play(*law, 2_s);
      play(*twin, 2_s);
      EXPECT_EQ(gauges(*law), gauges(*twin)) << "goes on as if nothing had happened";
    }
}

TEST(TakeSettings, RefusesAnotherProtocolsLaw) {
  for (const Protocol& p : protocols())
    for (const Protocol& q : protocols()) {
      if (p.name == q.name) continue;
      const auto law = make(p, preset_values(p, true, kDefaultPreset));
      const auto made = make(q, preset_values(q, true, kDefaultPreset));
      const auto before = gauges(*law);
      EXPECT_FALSE(law->take_settings(*made, {})) << p.name << " " << q.name;
      EXPECT_EQ(gauges(*law), before);
    }
}

}  // namespace
}  // namespace turnpike::take_settings_test
