// SPDX-License-Identifier: BSD-3-Clause
// Assigns packets to the classes of a link by their headers.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

#include "common/config/topology.h"
#include "router/datapath/burst.h"

namespace turnpike::router {

/// The classes of a link in order: the first one whose conditions hold takes the packet. The last
/// class has no conditions. Memory is taken when the classifier is made.
class Classifier {
 public:
  explicit Classifier(std::span<const config::LinkClass> classes);

  /// Writes the class of each of `members` at its place in the burst. `protocol`: Turnpike id of
  /// the link's law; a packet without a header of it is unpriced. Reads only header bytes that
  /// parse() found inside the frame.
  void classify(const Burst& burst, uint32_t members, uint8_t protocol,
                std::array<uint8_t, kBurst>& classes) const;

 private:
  struct Prefix4 {
    uint32_t address, mask;
  };
  struct Prefix6 {
    std::array<uint64_t, 2> address, mask;
  };
  struct Prefixes {
    std::vector<Prefix4> v4;
    std::vector<Prefix6> v6;
    bool any = true;  // no condition
  };
  struct Rule {
    uint64_t dscp = ~uint64_t{0};  // bit d: DSCP d matches
    std::bitset<256> protocols;
    std::vector<uint16_t> ports;
    Prefixes source, destination;
    bool any_protocol = true, any_port = true;
    bool priced = true, unpriced = true;  // whether such packets match
  };
  struct Fields;

  static Prefixes compile(const std::vector<std::variant<config::Ipv4Prefix, config::Ipv6Prefix>>&);
  static bool matches(const Rule& rule, const Fields& packet);
  static bool within(const Prefixes& prefixes, const Fields& packet, bool source);

  std::vector<Rule> rules_;  // without the last class
};

}  // namespace turnpike::router
