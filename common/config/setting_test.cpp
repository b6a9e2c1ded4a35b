// SPDX-License-Identifier: BSD-3-Clause
// Values from the command line: where they go, and the message if they cannot.
#include <gtest/gtest.h>

#include "common/config/load.h"
#include "common/protocols/registry.h"

namespace turnpike::config {
namespace {

constexpr const char* kFile =
    "hosts: { a: { budget: 1 $/s }, b: {} }\n"
    "routers: { r: {} }\n"
    "links:\n"
    "  in: { ends: [a, r], rate: 1 Gbps, delay: 1 ms }\n"
    "  out: { ends: [r, b], rate: 100 Mbps, delay: 1 ms, law: fcp }\n"
    "traffic: { flows: { f: { from: a, to: b } } }\n";

Loaded load(const std::vector<std::string>& texts) {
  std::vector<Setting> settings;
  settings.reserve(texts.size());
  for (const std::string& text : texts) settings.push_back(parse_setting(text).value());
  return load_text(kFile, "file", settings);
}

std::string only_mistake(const Loaded& loaded) {
  return !loaded && loaded.error().size() == 1 ? loaded.error()[0].text() : "not one mistake";
}

TEST(Setting, ReplacesAndAdds) {
  const auto t = load({"links.out.rate=1 Gbps", "run.seed=7", "traffic.flows.f.size=10 KB",
                       "traffic.flows.g={from: b, to: a}", "hosts.b.budget=2 $/s",
                       "links.out.law.fcp.window=3"});
  ASSERT_TRUE(t) << t.error()[0].text();
  EXPECT_EQ(t->links[1].directions[0].rate, 1_Gbps);
  EXPECT_EQ(t->run.seed, 7U);
  ASSERT_EQ(t->flows.size(), 2U);
  EXPECT_EQ(t->flows[0].size, 10'000U);
  EXPECT_EQ(t->flows[1].name, "g");
  const auto with = load({"links.out.law={fcp: {window: 3}}"});
  ASSERT_TRUE(with);
  for (size_t i = 0; i < with->links[1].directions[0].law.params.size(); ++i)
    EXPECT_EQ(t->links[1].directions[0].law.params[i], with->links[1].directions[0].law.params[i]);
}

TEST(Setting, APresetHoldsWhereTheFileSaysNothing) {
  const auto paper = load({"preset=paper"}), swift = load({"preset=swift"});
  const auto mixed = load({"preset=swift", "links.out.law.fcp.credit=window"});
  ASSERT_TRUE(paper && swift && mixed);
  const auto credit = [](const Loaded& t) { return t->links[1].directions[0].law.params[7]; };
  const auto burst = [](const Loaded& t) { return t->flows[0].params[2]; };
  ASSERT_EQ(find_protocol("fcp")->link_params[7].name, "credit");
  ASSERT_EQ(find_protocol("fcp")->flow_params[2].name, "first_round");
  EXPECT_EQ(credit(paper), 0);
  EXPECT_EQ(credit(swift), 1);
  EXPECT_EQ(credit(mixed), 0);
  EXPECT_EQ(burst(paper), 1);
  EXPECT_EQ(burst(mixed), 3);
  EXPECT_NE(only_mistake(load({"preset=swfit"})).find("did you mean 'swift'"), std::string::npos);
  EXPECT_NE(only_mistake(load({"links.out.law.fcp.credit=fadin"})).find("did you mean 'fading'"),
            std::string::npos);
}

TEST(Setting, StepsIntoLists) {
  const auto t = load({"links.out.ends.0=b", "links.out.ends.1=r"});
  ASSERT_TRUE(t) << t.error()[0].text();
  EXPECT_EQ(t->links[1].ends[0].node, "b");
}

TEST(Setting, MistakesNameTheirPath) {
  EXPECT_EQ(only_mistake(load({"links.out.rate=7"})).find("file: links.out.rate: "), 0U);
  EXPECT_NE(only_mistake(load({"links.out.rat=1 Gbps"})).find("did you mean 'rate'"),
            std::string::npos);
  EXPECT_NE(only_mistake(load({"links.out.rate.x=1"})).find("there is no 'x' to set"),
            std::string::npos);
  EXPECT_NE(only_mistake(load({"links.out.ends.2=a"})).find("there is no '2' to set"),
            std::string::npos);
  EXPECT_NE(only_mistake(load({"run=[}"})).find("run: '[}': "), std::string::npos);
}

TEST(Setting, WantsAPathAndAnEqualsSign) {
  EXPECT_FALSE(parse_setting("rate"));
  EXPECT_FALSE(parse_setting("=1"));
  EXPECT_EQ(parse_setting("a=b=c")->value, "b=c");
}

}  // namespace
}  // namespace turnpike::config
