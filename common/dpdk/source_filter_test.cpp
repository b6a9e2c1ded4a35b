// SPDX-License-Identifier: BSD-3-Clause
// Rules of a filter in a NIC of the test's own, which applies them to addresses.
#include "common/dpdk/source_filter.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <gtest/gtest.h>
#include <rte_errno.h>
#include <rte_flow.h>

namespace turnpike {
namespace {

using AddressBytes = std::array<uint8_t, 16>;

/// A NIC. Rules are numbered from 1, and a rte_flow* is such a number.
struct Nic {
  struct Rule {
    bool ipv6 = false;
    AddressBytes address{}, mask{};
    uint64_t hits = 0;
    bool exists = true;
  };
  std::vector<Rule> rules = {};
  // Its limits.
  bool counts = true, ipv6 = true, answers = true, knows_hits = true;
  size_t room = 100;

  /// Receives a packet; returns whether a rule drops it.
  bool drops(const AddressBytes& source, bool is_ipv6) {
    for (Rule& r : rules) {
      bool match = r.exists && r.ipv6 == is_ipv6;
      for (size_t i = 0; i < source.size(); ++i)
        match = match && ((source[i] ^ r.address[i]) & r.mask[i]) == 0;
      if (!match) continue;
      ++r.hits;
      return true;
    }
    return false;
  }
};

int refuse(rte_flow_error& error, const char* why, int code) {
  error.message = why;
  rte_errno = code;
  return -code;
}

class Api final : public FlowApi {
 public:
  explicit Api(Nic& nic) : nic_(nic) {}

  int validate(const rte_flow_attr& attributes, const rte_flow_item* pattern,
               const rte_flow_action* actions, rte_flow_error& error) override {
    EXPECT_EQ(attributes.ingress, 1);
    EXPECT_EQ(attributes.egress + attributes.transfer, 0);
    EXPECT_EQ(pattern[0].type, RTE_FLOW_ITEM_TYPE_ETH);
    EXPECT_EQ(pattern[2].type, RTE_FLOW_ITEM_TYPE_END);
    EXPECT_EQ(actions[0].type, RTE_FLOW_ACTION_TYPE_COUNT) << "no drop without a count";
    EXPECT_EQ(actions[1].type, RTE_FLOW_ACTION_TYPE_DROP);
    EXPECT_EQ(actions[2].type, RTE_FLOW_ACTION_TYPE_END);
    if (!nic_.counts) return refuse(error, "COUNT is not supported", ENOTSUP);
    if (!nic_.ipv6 && pattern[1].type == RTE_FLOW_ITEM_TYPE_IPV6)
      return refuse(error, nullptr, ENOTSUP);
    return 0;
  }

  rte_flow* create(const rte_flow_attr& /*attributes*/, const rte_flow_item* pattern,
                   const rte_flow_action* /*actions*/, rte_flow_error& error) override {
    if (nic_.rules.size() == nic_.room) {
      refuse(error, "the table is full", ENOSPC);
      return nullptr;
    }
    Nic::Rule& rule = nic_.rules.emplace_back();
    rule.ipv6 = pattern[1].type == RTE_FLOW_ITEM_TYPE_IPV6;
    if (rule.ipv6) {
      const auto* spec = static_cast<const rte_flow_item_ipv6*>(pattern[1].spec);
      const auto* mask = static_cast<const rte_flow_item_ipv6*>(pattern[1].mask);
      std::memcpy(rule.address.data(), &spec->hdr.src_addr, 16);
      std::memcpy(rule.mask.data(), &mask->hdr.src_addr, 16);
    } else {
      const auto* spec = static_cast<const rte_flow_item_ipv4*>(pattern[1].spec);
      const auto* mask = static_cast<const rte_flow_item_ipv4*>(pattern[1].mask);
      std::memcpy(rule.address.data(), &spec->hdr.src_addr, 4);
      std::memcpy(rule.mask.data(), &mask->hdr.src_addr, 4);
    }
    return reinterpret_cast<rte_flow*>(nic_.rules.size());  // NOLINT(performance-no-int-to-ptr)
  }

  int query(rte_flow& rule, const rte_flow_action& count, rte_flow_query_count& result) override {
    EXPECT_EQ(count.type, RTE_FLOW_ACTION_TYPE_COUNT);
    EXPECT_EQ(result.reset, 0);
    if (!nic_.answers) return -EIO;
    result.hits_set = nic_.knows_hits ? 1 : 0;
    result.hits = rule_of(rule).hits;
    return 0;
  }
  void destroy(rte_flow& rule) override { rule_of(rule).exists = false; }

 private:
  Nic::Rule& rule_of(rte_flow& rule) { return nic_.rules[reinterpret_cast<size_t>(&rule) - 1]; }
  Nic& nic_;
};

const std::vector<SourcePrefix> kPrefixes{
    {.ipv6 = false, .address = {127}, .length = 8, .text = "127.0.0.0/8"},
    {.ipv6 = false, .address = {224}, .length = 3, .text = "224.0.0.0/3"},
    {.ipv6 = true,
     .address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
     .length = 128,
     .text = "::1/128"}};

SourceFilter filter_of(Nic& nic) { return {std::make_unique<Api>(nic), kPrefixes}; }

TEST(SourceFilter, DropsItsPrefixesAndCounts) {
  Nic nic;
  SourceFilter filter = filter_of(nic);
  EXPECT_EQ(filter.filtered(), "127.0.0.0/8, 224.0.0.0/3, ::1/128");
  EXPECT_TRUE(filter.refused().empty());
  EXPECT_EQ(filter.dropped(), 0U);
  for (const AddressBytes a :
       {AddressBytes{127, 0, 0, 1}, AddressBytes{127, 255, 255, 255}, AddressBytes{224, 0, 0, 1},
        AddressBytes{255, 255, 255, 255}, AddressBytes{240}})
    EXPECT_TRUE(nic.drops(a, false)) << int{a[0]};
  for (const AddressBytes a :
       {AddressBytes{126, 255, 255, 255}, AddressBytes{128}, AddressBytes{223, 255, 255, 255},
        AddressBytes{0, 0, 0, 1}, AddressBytes{10, 127, 0, 1}})
    EXPECT_FALSE(nic.drops(a, false)) << int{a[0]};
  const AddressBytes loopback = kPrefixes[2].address;
  AddressBytes other = loopback;
  other[15] = 2;
  EXPECT_TRUE(nic.drops(loopback, true));
  EXPECT_FALSE(nic.drops(other, true));
  EXPECT_FALSE(nic.drops(AddressBytes{127, 0, 0, 1}, true)) << "another version's prefix";
  EXPECT_EQ(filter.dropped(), 6U);
  nic.drops(loopback, true);
  EXPECT_EQ(filter.dropped(), 7U);
}

TEST(SourceFilter, MakesNoRuleThatDoesNotCount) {
  Nic nic{.counts = false};
  SourceFilter filter = filter_of(nic);
  EXPECT_TRUE(nic.rules.empty());
  EXPECT_EQ(filter.filtered(), "");
  ASSERT_EQ(filter.refused().size(), 1U) << "a reason that is the same for all is given once";
  EXPECT_EQ(filter.refused()[0].reason, "COUNT is not supported");
  EXPECT_EQ(filter.refused()[0].prefixes, "127.0.0.0/8, 224.0.0.0/3, ::1/128");
  EXPECT_EQ(filter.dropped(), 0U);
}

TEST(SourceFilter, MakesTheRulesThatADriverTakes) {
  Nic nic{.ipv6 = false, .room = 1};
  SourceFilter filter = filter_of(nic);
  EXPECT_EQ(filter.filtered(), "127.0.0.0/8");
  ASSERT_EQ(filter.refused().size(), 2U);
  EXPECT_EQ(filter.refused()[0].reason, "the table is full");
  EXPECT_EQ(filter.refused()[0].prefixes, "224.0.0.0/3");
  EXPECT_EQ(filter.refused()[1].reason, std::strerror(ENOTSUP)) << "the driver gives only a code";
  EXPECT_EQ(filter.refused()[1].prefixes, "::1/128");
}

TEST(SourceFilter, KeepsTheLastCountOfADriverThatDoesNotAnswer) {
  Nic nic;
  SourceFilter filter = filter_of(nic);
  nic.drops(AddressBytes{127}, false);
  EXPECT_EQ(filter.dropped(), 1U);
  nic.drops(AddressBytes{127}, false);
  nic.answers = false;
  EXPECT_EQ(filter.dropped(), 1U);
  nic.answers = true;
  nic.knows_hits = false;
  EXPECT_EQ(filter.dropped(), 1U);
  nic.knows_hits = true;
  EXPECT_EQ(filter.dropped(), 2U);
}

TEST(SourceFilter, RemovesItsRulesAtTheEnd) {
  Nic nic;
  {
    SourceFilter first = filter_of(nic);
    const SourceFilter second = std::move(first);
    EXPECT_TRUE(nic.drops(AddressBytes{127}, false));
  }
  EXPECT_FALSE(nic.drops(AddressBytes{127}, false));
}

}  // namespace
}  // namespace turnpike
