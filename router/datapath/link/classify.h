// SPDX-License-Identifier: BSD-3-Clause
// Assigns packets to the classes of a link by their headers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/config/topology.h"
#include "common/protocols/link_law.h"
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
  struct Conditions {
    std::vector<uint16_t> ports;  // empty: any
    Prefixes source, destination;
  };
  struct Rule {
    Conditions own, outer;  // of the class and of its outer class
  };
  struct Fields;
  using Set = uint8_t;  // bit c: rule c
  static_assert(kMaxClasses <= 8);

  static Prefixes compile(const std::vector<std::variant<config::Ipv4Prefix, config::Ipv6Prefix>>&);
  static Conditions compile(const config::ClassMatch& match);
  [[nodiscard]] Set matching(const Burst& burst, unsigned i, Set fit) const;
  static bool hold(const Conditions& all, const Fields& packet);
  static bool within(const Prefixes& prefixes, const Fields& packet, bool source);

  std::vector<Rule> rules_;  // without the last class
  // Rules whose conditions on that field hold. A packet is in the sets of all of its fields.
  std::array<Set, 64> dscp_{};
  std::array<Set, 256> protocol_{};
  std::array<Set, 2> priced_{};  // 1: it has a price
  Set complex_ = 0;              // rules with conditions on ports or addresses
};

}  // namespace turnpike::router
