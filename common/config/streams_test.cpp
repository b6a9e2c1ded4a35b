// SPDX-License-Identifier: BSD-3-Clause
// Open-loop streams: valid files, and each mistake at its place.
#include <algorithm>

#include "common/config/marked_file.h"

namespace turnpike::config {
namespace {

std::string with(const std::string& keys) {
  return changed("", "  streams:\n    load: {from: alice, to: bob" + keys + "}\n");
}

TEST(Streams, DefaultsAndRates) {
  const Stream s = expect_right(with(", rate: {packets: 1000 /s}")).streams.at(0);
  EXPECT_EQ(s.name, "load");
  EXPECT_EQ(s.from, 0U);
  EXPECT_EQ(s.to, 1U);
  EXPECT_EQ(std::get<PacketRate>(s.rate).per_second, 1000);
  EXPECT_EQ(s.frames, std::vector{Bytes(64)});
  EXPECT_EQ(s.flows, 1U);
  EXPECT_EQ(s.stop, kNever);
  const auto rate = [](const std::string& text) {
    return expect_right(with(", rate: {" + text + "}")).streams.at(0).rate;
  };
  EXPECT_EQ(std::get<L1Rate>(rate("l1: 10 Gbps")).rate, BitRate(1e10));
  EXPECT_EQ(std::get<L2Rate>(rate("l2: 1 Gbps")).rate, BitRate(1e9));
  EXPECT_EQ(std::get<LineShare>(rate("line: 0.5")).share, 0.5);
}

TEST(Streams, Frames) {
  const auto frames = [](const std::string& text) {
    return expect_right(with(", rate: {line: 1}, " + text)).streams.at(0).frames;
  };
  EXPECT_EQ(frames("frames: {sizes: 1518 B}"), std::vector{Bytes(1518)});
  EXPECT_EQ(frames("frames: {sizes: [64 B, 512 B]}"), (std::vector{Bytes(64), Bytes(512)}));
  EXPECT_EQ(frames("ip_version: 6"), std::vector{Bytes(84)});
  const auto imix = frames("frames: imix");
  ASSERT_EQ(imix.size(), 12U);
  EXPECT_EQ(std::ranges::count(imix, Bytes(64)), 7);
  EXPECT_EQ(std::ranges::count(imix, Bytes(594)), 4);
  EXPECT_EQ(std::ranges::count(imix, Bytes(1518)), 1);
}

TEST(Streams, NeedNoBudget) {
  EXPECT_EQ(expect_right("hosts: {a: {}, b: {}}\nlinks: {ab: {ends: [a, b], rate: 1 Gbps}}\n"
                         "traffic: {streams: {load: {from: a, to: b, rate: {l1: 1 Gbps}}}}")
                .streams.size(),
            1U);
}

TEST(Streams, MistakesAtTheirPlaces) {
  expect_mistakes(changed("", "  streams:\n    ^load: {from: alice, to: bob}\n"),
                  {"missing key 'rate'"});
  expect_mistakes(with(", rate: ^5"), {"rate"});
  expect_mistakes(with(", rate: {packets: ^0 /s}"), {"out of range"});
  expect_mistakes(with(", rate: {line: 1}, flows: ^2000000"), {"out of range"});
  expect_mistakes(with(", rate: {line: 1}, frames: {sizes: [64 B, ^40 B]}"), {"out of range"});
  expect_mistakes(
      with(", rate: {line: 1}, frames: {sizes: [64 B, ^9000 B]}"),
      {"streams.load.frames.sizes: a frame of 9000 B, more than the path's MTU of 1500 B"});
  expect_mistakes(with(", ip_version: 6, rate: {line: 1}, frames: {sizes: ^64 B}"), {"84 B hold"});
  expect_mistakes(with(", rate: {line: 1}, start: 2 s, stop: ^1 s"), {"not after the start"});
  expect_mistakes(with(", rate: {line: 1}, start: ^10 s"), {"not before the end of the run"});
  expect_mistakes(changed("", "  streams: {x: {from: ^gate, to: ^bab, rate: {line: 1}}}\n"),
                  {"is a router", "did you mean 'bob'"});
  expect_mistakes(changed("", "  streams: {x: {from: bob, to: ^bob, rate: {line: 1}}}\n"),
                  {"would send to itself"});
  std::string taken = with(", rate: {line: 1}");
  taken.replace(taken.find("duration: 10 s"), 14, "udp_port: ^9");
  expect_mistakes(taken, {"port 9 is used by streams"});
}

}  // namespace
}  // namespace turnpike::config
