// SPDX-License-Identifier: BSD-3-Clause
// Where nodes run, offsets of clocks, and names of files that other machines give.
#include <gtest/gtest.h>

#include "common/config/load.h"
#include "lab/machines/clock_offset.h"
#include "lab/machines/file_parts.h"
#include "lab/machines/paths.h"
#include "lab/machines/place.h"

namespace turnpike::lab {
namespace {

config::Topology topology() {
  auto loaded = config::load_text(
      "hosts: { a: { budget: 1 $/s }, b: {}, kernel: { external: true, addresses: [10.9.0.2/24], "
      "mac: "
      "\"02:00:00:00:00:09\" } }\n"
      "routers: { r: {}, s: {} }\n"
      "links:\n"
      "  a-r: { ends: [a, r], rate: 1 Gbps, attach: memif }\n"
      "  r-s: { ends: [r, s], rate: 1 Gbps, attach: { r: { af_packet: x }, s: { af_packet: y } } "
      "}\n"
      "  s-b: { ends: [s, b], rate: 1 Gbps, attach: memif }\n"
      "  s-kernel: { ends: [s, kernel], rate: 1 Gbps, addresses: { s: [10.9.0.1/24] }, attach: { "
      "s: { "
      "af_packet: z } } }\n"
      "traffic: { flows: { f: { from: a, to: b } } }\n",
      "machines");
  EXPECT_TRUE(loaded) << loaded.error().front().text();
  return loaded ? std::move(*loaded) : config::Topology();
}

TEST(Placement, ReadsMachineAndNodes) {
  const auto there = Placement::parse("ssh:user@box=a,r");
  ASSERT_TRUE(there);
  EXPECT_EQ(there->host, "user@box");
  EXPECT_EQ(there->nodes, (std::vector<std::string>{"a", "r"}));
  EXPECT_EQ(Placement::parse("local=a")->host, "");
  for (const char* wrong : {"", "=", "box=a", "ssh:=a", "ssh:box", "ssh:box=", "ssh:box=,",
                            "ssh:-x=a", "ssh:../x=a", "ssh:a b=a", "slurm=a"})
    EXPECT_FALSE(Placement::parse(wrong)) << wrong;
}

TEST(PlaceNodes, RunsTheRestHere) {
  const auto places = place_nodes(topology(), {{.host = "box", .nodes = {"b", "s"}}});
  ASSERT_TRUE(places);
  ASSERT_EQ(places->size(), 2U);
  EXPECT_EQ((*places)[0].name(), "box");
  EXPECT_EQ((*places)[0].routers, std::vector<std::string>{"s"});
  EXPECT_EQ((*places)[0].hosts, std::vector<std::string>{"b"});
  EXPECT_EQ((*places)[1].name(), "local");
  EXPECT_EQ((*places)[1].hosts, std::vector<std::string>{"a"});  // no external one
}

TEST(PlaceNodes, NamesAllMistakes) {
  const auto places = place_nodes(topology(), {{.host = "one", .nodes = {"a", "x", "kernel"}},
                                               {.host = "two", .nodes = {"a"}}});
  ASSERT_FALSE(places);
  ASSERT_EQ(places.error().size(), 4U);
  EXPECT_NE(places.error()[0].find("'x'"), std::string::npos);
  EXPECT_NE(places.error()[1].find("'kernel'"), std::string::npos);
  EXPECT_NE(places.error()[2].find("'a' is placed twice"), std::string::npos);
  EXPECT_NE(places.error()[3].find("link a-r"), std::string::npos);
}

TEST(PlaceNodes, NeedsAHost) {
  config::Topology t = topology();
  for (config::Host& h : t.hosts) h.external = true;
  const auto places = place_nodes(t, {});
  ASSERT_FALSE(places);
  EXPECT_NE(places.error().at(0).find("no host"), std::string::npos);
}

// The other clock is 5 ms ahead; the ways there and back take different times.
TEST(ClockOffset, IsWithinItsUncertainty) {
  constexpr int64_t kAhead = 5'000'000;
  ClockOffset clock;
  int64_t now = 1'000'000'000'000;
  for (const auto& [there, back] :
       {std::pair<int64_t, int64_t>{900'000, 100'000}, {50'000, 250'000}, {4'000'000, 10'000}}) {
    clock.add(now, now + there + kAhead, now + there + back);
    EXPECT_LE(std::llabs(clock.offset() - kAhead), clock.uncertainty());
    now += 10'000'000;
  }
  EXPECT_EQ(clock.uncertainty(), 150'000);
  EXPECT_EQ(clock.correction(), clock.offset());
  EXPECT_EQ(clock.text(), "4.900 ms ahead, +- 0.150 ms: corrected");
}

TEST(ClockOffset, CorrectsNothingThatItCannotMeasure) {
  ClockOffset clock;
  EXPECT_EQ(clock.correction(), 0);
  clock.add(0, -100'000, 1'000'000);
  EXPECT_EQ(clock.offset(), -600'000);
  EXPECT_EQ(clock.correction(), -600'000);
  clock.add(0, 350'000, 1'000'000);  // not shorter
  EXPECT_EQ(clock.offset(), -600'000);
  clock.add(0, 390'000, 800'000);
  EXPECT_EQ(clock.correction(), 0);
  clock.add(1000, 500, 0);  // this clock was set back meanwhile
  EXPECT_EQ(clock.uncertainty(), 400'000);
}

TEST(FileParts, AreTheTextInOrderAndWholeCharacters) {
  std::string text(kFilePart - 1, 'a');
  for (size_t i = 0; i < kFilePart; ++i) text += i % 3 == 0 ? "\xe2\x82\xac" : "b";  // a euro sign
  for (const std::string& whole : {std::string(), std::string("x"), std::string(kFilePart, 'y'),
                                   text, std::string(2 * kFilePart, '\x80')}) {
    std::string joined;
    size_t parts = 0;
    for_each_part(whole, [&](std::string_view part) {
      EXPECT_LE(part.size(), kFilePart);
      const size_t next = joined.size() + part.size();
      const bool whole_characters = whole[0] != '\x80';
      if (whole_characters && next < whole.size()) {
        EXPECT_NE(static_cast<uint8_t>(whole[next]) >> 6, 2);
      }
      joined += part;
      ++parts;
    });
    EXPECT_EQ(joined, whole);
    EXPECT_GE(parts, 1U);
    EXPECT_LE(parts, whole.size() / (kFilePart - 3) + 1);
  }
}

TEST(InnerPath, StaysInItsFolder) {
  for (const char* good : {"a", "a/b.csv", "routers/gate/links.csv", "..a/b", "a..b"})
    EXPECT_TRUE(is_inner_path(good)) << good;
  for (const char* bad : {"", "/etc/passwd", "../a", "a/../../b", "a/..", "a/", "."})
    EXPECT_FALSE(is_inner_path(bad)) << bad;
  EXPECT_FALSE(is_inner_path(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace turnpike::lab
