// SPDX-License-Identifier: BSD-3-Clause
#include "lab/throughput/series.h"

#include <array>

#include <gtest/gtest.h>

namespace turnpike::lab {
namespace {

constexpr const char* kFile =
    "hosts: {a: {}, b: {}}\nrouters: {gate: {lcores: [4, 2, 7]}}\n"
    "links: {l: {ends: [a, gate], rate: 1 Gbps}, r: {ends: [gate, b], rate: 1 Gbps}}\n"
    "traffic: {streams: {one: {from: a, to: b, rate: {line: 1}},"
    " two: {from: b, to: a, rate: {line: 1}, frames: {sizes: 512 B}}}}\n";

config::Topology with(const Variant& variant) {
  const auto base = config::load_text(kFile, "base");
  EXPECT_TRUE(base) << base.error().front().text();
  const auto settings = settings_for(variant, *base);
  EXPECT_TRUE(settings) << settings.error();
  auto loaded = config::load_text(kFile, "variant", *settings);
  EXPECT_TRUE(loaded) << loaded.error().front().text();
  return std::move(*loaded);
}

TEST(Series, HasEachSizeWithEachNumberOfLcores) {
  const std::array<std::string, 2> frames{"64", "imix"};
  const std::array<unsigned, 2> lcores{1, 2};
  const auto all = variants(frames, lcores);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[1].frames, "imix");
  EXPECT_EQ(all[1].lcores, 1U);
  EXPECT_EQ(all[2].frames, "64");
  EXPECT_EQ(all[2].lcores, 2U);
  EXPECT_EQ(variants({}, lcores).size(), 2U);
  EXPECT_EQ(variants({}, {}).size(), 1U) << "the file as it is";
}

TEST(Series, VariantsChangeAllStreamsAndRouters) {
  const config::Topology t = with({.frames = "128", .lcores = 2});
  for (const config::Stream& s : t.streams) EXPECT_EQ(s.frames, std::vector{Bytes(128)});
  EXPECT_EQ(t.routers[0].lcores, (std::vector<unsigned>{4, 2}));
  EXPECT_EQ(with({.frames = "imix"}).streams[1].frames.size(), 12U);
  const config::Topology same = with({});
  EXPECT_EQ(same.streams[1].frames, std::vector{Bytes(512)});
  EXPECT_EQ(same.routers[0].lcores.size(), 3U);
}

TEST(Series, RefusesMoreLcoresThanTheFileLists) {
  const auto base = config::load_text(kFile, "base");
  const auto settings = settings_for({.lcores = 4}, *base);
  ASSERT_FALSE(settings);
  EXPECT_NE(settings.error().find("gate has 3 lcores"), std::string::npos);
}

TEST(Series, FramesThatDoNotFitAreMistakesOfTheFile) {
  const auto base = config::load_text(kFile, "base");
  for (const char* frames : {"9000", "12", "many"}) {
    const auto settings = settings_for({.frames = frames}, *base);
    EXPECT_FALSE(config::load_text(kFile, "variant", *settings)) << frames;
  }
}

TEST(Series, IsOneTableAndOneList) {
  Measured m{.variant = {.frames = "128", .lcores = 2},
             .topology = with({.frames = "128", .lcores = 2}),
             .measurement = {}};
  GoalResult found{.goal = 0, .best = Trial{.share = 0.5, .faults = {}}};
  found.best->carried_pps = 2.5e6;
  found.best->cycles = 70;
  m.measurement.goals = {found, {.goal = 0.001, .best = {}}};
  const std::string text = series_text({&m, 1});
  EXPECT_NE(text.find("2.5"), std::string::npos);
  EXPECT_NE(text.find("no rate that was tried"), std::string::npos);
  const auto json = series_json({&m, 1});
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["frames"], nlohmann::ordered_json({128}));
  EXPECT_EQ(json[0]["lcores"]["gate"], nlohmann::ordered_json({4, 2}));
  EXPECT_EQ(json[0]["throughput"][0]["pps"], 2.5e6);
  EXPECT_EQ(json[0]["throughput"][0]["best"]["cycles_per_packet"], 70.0);
}

}  // namespace
}  // namespace turnpike::lab
