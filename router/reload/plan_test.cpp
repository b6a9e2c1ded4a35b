// SPDX-License-Identifier: BSD-3-Clause
// The plan of a reload: no key of a file is forgotten, and each has its effect.
#include "router/reload/plan.h"

#include <cctype>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/config/load.h"
#include "common/config/resolve.h"
#include "common/config/yaml_tree.h"
#include "common/units/instrumented.h"

namespace turnpike::router::plan_test {
namespace {

const std::string kEveryKey = TURNPIKE_SOURCE_ROOT "/tests/config/every-key.yaml";

config::Topology load(const std::vector<config::Setting>& settings = {}) {
  auto t = config::load_file(kEveryKey, settings);
  if (!t) ADD_FAILURE() << t.error().front().text();
  return t ? std::move(*t) : config::Topology{};
}

constexpr const char* kText = R"(
hosts: { a: { budget: 1 $/s }, b: , c: }
routers: { r: { enforce: {}, routes: [{ prefix: 10.99.0.0/16, via: rb }] }, other: }
groups: { gold: { weight: 2 } }
customers: { acme: { link: ra, budget: 1 $/s, group: gold }, beta: { prefix: 10.7.0.0/16, budget: 2 $/s } }
links:
  ra: { ends: [a, r], rate: 1 Gbps }
  rb: { ends: [r, b], rate: 100 Mbps, delay: 1 ms, law: { fcp: { groups: link } } }
  ro: { ends: [r, other], rate: 100 Mbps, delay: 1 ms, law: tcp }
  oc: { ends: [other, c], rate: 100 Mbps }
traffic: { flows: { f: { from: a, to: b } } }
)";

config::Topology small(const std::vector<config::Setting>& settings = {}) {
  auto t = config::load_text(kText, "small.yaml", settings);
  if (!t) ADD_FAILURE() << t.error().front().text();
  return t ? std::move(*t) : config::Topology{};
}

/// The one change of a plan that some text names.
PlannedChange only(const Plan& p, const std::string& path) {
  for (const PlannedChange& c : p.changes)
    if (c.path == path) return c;
  ADD_FAILURE() << "no " << path << " in\n" << p.text();
  return {};
}

TEST(ReloadPlan, NothingChanges) {
  const Plan p = plan(small(), small(), 0);
  EXPECT_TRUE(p.empty()) << p.text();
  EXPECT_EQ(p.text(), "nothing changes\n");
  EXPECT_FALSE(p.applies());
  EXPECT_TRUE(plan(load(), load(), 1).empty());
}

TEST(ReloadPlan, SaysWhatEachChangeDoes) {
  struct Case {
    const char* path;
    const char* value;
    const char* named;  // in the plan
    Effect effect;
  };
  const config::Topology running = small();
  for (const Case& c : std::vector<Case>{
           {"links.rb.rate", "50 Mbps", "links.rb.rate", Effect::kLive},
           {"links.rb.buffer", "80 KB", "links.rb.buffer", Effect::kLive},
           {"links.rb.law", "rcp", "links.rb.forward.law", Effect::kRestarts},
           {"links.rb.law.fcp.alpha", "3", "links.rb.forward.law.fcp.alpha", Effect::kLive},
           {"links.rb.law.fcp.pricing", "incoming", "links.rb.forward.law.fcp.pricing",
            Effect::kRestarts},
           {"links.ro.law.tcp.discipline", "red", "links.ro.law.tcp.discipline", Effect::kRestarts},
           {"links.ro.law.tcp.red_weight", "0.01", "links.ro.law.tcp.red_weight", Effect::kLive},
           {"links.rb.delay", "2 ms", "links.rb.delay", Effect::kElsewhere},
           {"links.ro.delay", "2 ms", "links.ro.delay", Effect::kRefused},
           {"links.rb.drain", "line-rate", "links.rb.drain", Effect::kRefused},
           {"links.rb.mtu", "1400", "links.rb.mtu", Effect::kRefused},
           {"links.rb.vlan", "7", "links.rb.vlan", Effect::kRefused},
           {"links.rb.attach", "memif", "links.rb.attach.r.memif.id", Effect::kRefused},
           {"links.rb.macs", "{r: '02:00:00:00:00:77'}", "links.rb.macs.r", Effect::kRefused},
           {"links.rb.macs", "{b: '02:00:00:00:00:77'}", "links.rb.macs.b", Effect::kLive},
           {"links.ra.forward.source_check", "loose", "links.ra.forward.source_check",
            Effect::kLive},
           {"links.oc.rate", "50 Mbps", "links.oc.rate", Effect::kElsewhere},
           {"routers.r.lcores", "[3, 4]", "routers.r.lcores", Effect::kRefused},
           {"routers.r.nic_filters", "on", "routers.r.nic_filters", Effect::kRefused},
           {"routers.r.routes.0.via", "ra", "routers.r.routes.10.99.0.0/16", Effect::kLive},
           {"routers.r.enforce.burst", "70 ms", "routers.r.enforce.burst", Effect::kLive},
           {"groups.gold.weight", "3", "groups.gold.weight", Effect::kLive},
           {"customers.acme.budget", "3 $/s", "customers.acme.budget", Effect::kLive},
           {"hosts.a.budget", "3 $/s", "hosts.a.budget", Effect::kElsewhere},
           {"traffic.flows.f.size", "3 MB", "traffic.flows.f.size", Effect::kElsewhere},
           {"run.sample", "1 s", "run.sample", Effect::kLive},
           {"run.seed", "7", "run.seed", Effect::kNextStart}}) {
    const Plan p = plan(running, small({{c.path, c.value}}), 0);
    EXPECT_EQ(only(p, c.named).effect, c.effect) << c.path << "\n" << p.text();
    EXPECT_EQ(p.refusal().empty(), c.effect != Effect::kRefused) << p.text();
    EXPECT_FALSE(only(p, c.named).note.empty());
  }
}

TEST(ReloadPlan, FlowControlOfANicNeedsARestart) {
  const auto with = [](const std::string& nic) { return small({{"links.ra.attach", nic}}); };
  const auto off = with("{r: {pci: {address: '3b:00.0', flow_control: off}}}");
  const auto on = with("{r: {pci: {address: '3b:00.0', flow_control: on}}}");
  const auto none = with("{r: {pci: '3b:00.0'}}");
  for (const auto& [from, to] : {std::pair(&off, &on), {&none, &on}, {&on, &none}}) {
    const Plan p = plan(*from, *to, 0);
    ASSERT_EQ(p.changes.size(), 1U) << p.text();
    EXPECT_EQ(p.changes[0].path, "links.ra.attach.r.pci.flow_control");
    EXPECT_EQ(p.changes[0].effect, Effect::kRefused);
    EXPECT_EQ(p.changes[0].note, "restart the router to apply: ports open at the start");
  }
}

TEST(ReloadPlan, NamesWholeEntriesOnce) {
  Plan p = plan(small(), small({{"customers.new", "{prefix: 10.8.0.0/16, budget: 1 $/s}"}}), 0);
  ASSERT_EQ(p.changes.size(), 1U) << p.text();
  EXPECT_EQ(p.changes[0].from, "none");
  EXPECT_EQ(p.changes[0].to, "budget: 1 $/s, prefix: [10.8.0.0/16]");
  p = plan(small({{"customers.new", "{prefix: 10.8.0.0/16, budget: 1 $/s}"}}), small(), 0);
  ASSERT_EQ(p.changes.size(), 1U) << p.text();
  EXPECT_EQ(p.changes[0].to, "none");

  p = plan(small(), small({{"links.more", "{ends: [r, other], rate: 1 Gbps}"}}), 0);
  EXPECT_EQ(only(p, "links.more").effect, Effect::kRefused) << p.text();
  p = plan(small(),
           small({{"links.rb.forward.classes",
                   "{x: {match: {dscp: 3}, policy: {priority: {factor: 2}}}, y: }"}}),
           0);
  EXPECT_EQ(only(p, "links.rb.forward.classes.x").effect, Effect::kRestarts) << p.text();
}

TEST(ReloadPlan, RefusesAsAWholeWithAllReasons) {
  const Plan p = plan(
      small(),
      small({{"links.rb.mtu", "1400"}, {"links.rb.rate", "1 Mbps"}, {"routers.r.lcores", "[7]"}}),
      0);
  const std::string why = p.refusal();
  EXPECT_NE(why.find("links.rb.mtu: 1500 -> 1400: restart the router to apply"), why.npos) << why;
  EXPECT_NE(why.find("routers.r.lcores"), why.npos) << why;
  EXPECT_EQ(why.find("links.rb.rate"), why.npos) << why;
  EXPECT_NE(p.text().find("refused as a whole: 2 of "), std::string::npos) << p.text();
  const auto json = plan_json(p);
  EXPECT_TRUE(json["refused"]);
  EXPECT_EQ(json["changes"].size(), p.changes.size());
}

TEST(ReloadPlan, ARouterThatVanishesIsRefused) {
  const Plan p = plan(small(), load(), 0);
  EXPECT_FALSE(p.refusal().empty());
}

TEST(ReloadPlan, SeesTheOrderOfClasses) {
  const char* first = "{x: {match: {dscp: 3}}, y: {match: {dscp: [3, 4]}}, z: }";
  const char* second = "{y: {match: {dscp: [3, 4]}}, x: {match: {dscp: 3}}, z: }";
  const Plan p = plan(small({{"links.rb.forward.classes", first}}),
                      small({{"links.rb.forward.classes", second}}), 0);
  ASSERT_EQ(p.changes.size(), 1U) << p.text();
  EXPECT_EQ(p.changes[0].path, "links.rb.forward.classes.(order)");
  EXPECT_EQ(p.changes[0].effect, Effect::kLive);
}

TEST(ReloadPlan, NamesChangedKeysOfAGatewayWithoutThem) {
  config::Topology running = load();
  const auto key = [](uint8_t number) { return SecretBytes(std::vector<uint8_t>(32, number)); };
  const auto plan_of = [&](const std::vector<SecretBytes>& before,
                           const std::vector<SecretBytes>& after, const auto& change) {
    config::Topology from = running, to = running;
    from.gateways[0].security->unread = to.gateways[0].security->unread = "";
    from.gateways[0].peers[0].keys = before;
    to.gateways[0].peers[0].keys = after;
    change(to);
    return plan(from, to, from.gateways[0].router);
  };
  const auto nothing = [](config::Topology&) {};
  const std::string path = "gateways.west.security: keys of far";
  EXPECT_TRUE(plan_of({key(1)}, {key(1)}, nothing).empty());
  Plan p = plan_of({key(1)}, {key(1), key(2)}, nothing);
  ASSERT_EQ(p.changes.size(), 1U) << p.text();
  EXPECT_EQ(only(p, path).to, "2 keys");
  EXPECT_EQ(only(p, path).effect, Effect::kLive);
  EXPECT_TRUE(p.applies());
  EXPECT_EQ(only(plan_of({key(1), key(2)}, {key(2), key(1)}, nothing), path).to,
            "2 keys in another order");
  EXPECT_EQ(only(plan_of({key(1)}, {key(3)}, nothing), path).to, "1 key, not the same");
  for (const bool exposed : {true, false}) {
    p = plan_of({key(1)}, exposed ? std::vector{key(2)} : std::vector<SecretBytes>(),
                [&](config::Topology& t) {
                  if (exposed) {
                    t.gateways[0].security->exposed = true;
                  } else {
                    t.gateways[0].security->unread = "Permission denied";
                  }
                });
    EXPECT_NE(p.refusal().find(exposed ? "chmod 600" : "Permission denied"), std::string::npos)
        << p.text();
  }
  // Another router's plan.
  config::Topology wanted = running;
  wanted.gateways[0].peers[0].keys = {key(2)};
  const size_t other = running.gateways[0].router == 0 ? 1 : 0;
  EXPECT_EQ(only(plan(running, wanted, other), path).effect, Effect::kElsewhere);
}

TEST(ReloadPlan, RefusesToBeginToEncrypt) {
  const config::Topology running = load();
  config::Topology wanted = running;
  wanted.gateways[0].security.reset();
  EXPECT_FALSE(plan(running, wanted, running.gateways[0].router).refusal().empty());
  EXPECT_FALSE(plan(wanted, running, running.gateways[0].router).refusal().empty());
  wanted = running;
  wanted.gateways[0].security->key_file = "/elsewhere";
  const Plan p = plan(running, wanted, running.gateways[0].router);
  EXPECT_TRUE(p.refusal().empty()) << p.text();
  EXPECT_FALSE(p.empty());
}

// --- no key is forgotten ------------------------------------------------------------------------

/// All scalars of a file with their paths.
void collect(const config::YamlNode& node, const std::string& path,
             std::vector<std::pair<std::string, std::string>>& out) {
  if (node.is_scalar()) out.emplace_back(path, node.text);
  for (size_t i = 0; i < node.items.size(); ++i)
    collect(node.items[i], path + "." + std::to_string(i), out);
  for (const config::Entry& e : node.entries)
    if (e.key.find('.') == std::string::npos)
      collect(e.value, path.empty() ? e.key : path + "." + e.key, out);
}

/// Keys for which no single other value leaves the file valid, with a change that does.
const std::map<std::string, std::vector<config::Setting>>& special() {
  static const std::map<std::string, std::vector<config::Setting>> all{
      {"run.duration", {{"run.duration", "2 min"}}},
      {"generate.world.shape.as_like.file",
       {{"generate.world.shape.as_like.file", "other-edges.txt"}}},
      {"customers.beta.link", {{"customers.beta.link", "erin-west"}}},
      {"customers.gamma.vlan", {{"customers.gamma", "{prefix: 10.99.0.0/24, budget: 1 $/s}"}}},
      {"gateways.west.core",
       {{"gateways.west.core", "spare"},
        {"customers.gamma", "{prefix: 10.99.0.0/24, budget: 1 $/s}"}}},
      {"links.spare.vlan", {{"links.spare.vlan", "209"}}},
      {"gateways.west.strategy", {{"gateways.west.strategy", "max-min"}}},
      {"gateways.west.mtu", {{"gateways.west.mtu", "1450 B"}}},
      {"gateways.west.outside", {{"gateways.west.outside", "drop"}}},
      {"gateways.west.silent_peer",
       {{"gateways.west",
         "{core: core, peers: {far: {address: 192.0.2.7, prefix: 10.80.0.0/16}}}"}}},
      {"run.measure.steady.to", {{"run.measure.steady.to", "45 s"}}},
      {"hosts.bob.strategy",
       {{"hosts.bob.strategy", "each-flow"}, {"traffic.flows.film", "{from: bob, to: erin}"}}},
      {"hosts.bob.addresses.1", {{"hosts.bob.addresses.1", "\"fd00:8::7/64\""}}},
      {"hosts.carol.addresses",
       {{"hosts.carol.addresses", "10.19.0.2/30"},
        {"links.west-carol.addresses.west", "[10.19.0.1/30, 'fd00:9::1/64']"}}},
      {"links.core.law.fcp.alpha", {{"links.core.forward.law", "{fcp: {alpha: 4}}"}}},
      {"links.core.law.fcp.first_rtt", {{"links.core.forward.law", "{fcp: {first_rtt: 60 ms}}"}}},
      {"links.core.drain", {{"links.core.reverse.drain", "shaped"}}},
      {"links.core.mtu", {{"links.core.mtu", "1400"}}},
      {"generate.cell.access.mtu", {{"generate.cell.access.mtu", "1450"}}},
      {"links.core.forward.rate", {{"links.core.forward.rate", "90 Mbps"}}},
      {"links.core.forward.law", {{"links.core.forward.law", "{fcp: {alpha: 4}}"}}},
      {"links.core.forward.classes.steady.policy",
       {{"links.core.forward.classes.steady.policy", "standard"}}},
      {"links.west-carol.addresses.west.0",
       {{"hosts.carol.addresses", "10.19.0.2/30"},
        {"links.west-carol.addresses.west", "[10.19.0.1/30, 'fd00:9::1/64']"}}},
      {"links.west-carol.addresses.west.1",
       {{"links.west-carol.addresses.west", "[10.9.0.1/30, 'fd00:9::5/64']"}}},
      {"links.west-carol.addresses.carol",
       {{"routers.west.table", "one-route.txt"},
        {"links.west-carol.addresses.carol", "'fd00:9::6/64'"},
        {"routers.west.routes.1.via", "'fd00:9::6'"}}},
      {"links.spare.attach.west", {{"links.spare.attach", "memif"}}},
      {"links.bob-east.attach.bob", {{"links.bob-east.attach.east.memif.socket", "/run/tp9.sock"}}},
      {"traffic.flows.film.from", {{"traffic.flows.film", "{from: alice, to: erin}"}}},
      {"traffic.workloads.web.size.pareto.cap",
       {{"traffic.workloads.web.size.pareto.cap", "10 MB"}}},
      {"traffic.workloads.bytes.arrivals.periodic",
       {{"traffic.workloads.bytes.arrivals.periodic", "3 /ms"}}},
      {"traffic.workloads.web.from.0", {{"traffic.workloads.web.from", "bob"}}},
      {"traffic.workloads.web.from.1", {{"traffic.workloads.web.from", "alice"}}},
      {"traffic.workloads.web.to.0", {{"traffic.workloads.web.to", "erin"}}},
      {"traffic.workloads.web.to.1", {{"traffic.workloads.web.to", "dave"}}},
      {"trees.news.group.0", {{"trees.news.group.0", "239.7.7.9"}}},
      {"traffic.streams.load.slack", {{"traffic.streams.load.slack", "20 us"}}},
      {"traffic.streams.mixed.from",
       {{"traffic.streams.mixed", "{from: bob, to: alice, rate: {l1: 10 Mbps}}"}}},
      {"traffic.streams.mixed.to",
       {{"traffic.streams.mixed", "{from: alice, to: erin, rate: {l1: 10 Mbps}}"}}},
  };
  return all;
}

/// Names of files, whose contents are compared, and of the ends of links, without which no file is
/// valid: a plan with other ends is tested above.
bool apart(const std::string& path) {
  return path.ends_with(".table") || path == "customer_table" || path.ends_with(".trace") ||
         path.find(".ends.") != std::string::npos || path == "trees.news.root" ||
         path == "traffic.flows.cast.from";
}

/// Other values of the same kind.
std::vector<std::string> others(const std::string& value) {
  const size_t blank = value.find(' ');
  if (blank != std::string::npos && std::isdigit(static_cast<unsigned char>(value[0])) != 0) {
    const std::string unit = value.substr(blank);
    return {"7" + unit, "3" + unit, "41" + unit, "300" + unit, "0.3" + unit, "2e-15" + unit};
  }
  if (!value.empty() && std::isdigit(static_cast<unsigned char>(value[0])) != 0 &&
      value.find_first_of(":/") == std::string::npos)
    return {"7", "4", "6", "3", "0.4", "0.9", "1400", "41", "3.5", "10.66.0.1"};
  if (value == "true") return {"false"};
  if (value == "false") return {"true"};
  std::vector<std::string> all;
  for (const char* word : {"turnpike",
                           "line-rate",
                           "shaped",
                           "loose",
                           "red",
                           "droptail",
                           "max-throughput",
                           "each-flow",
                           "payload",
                           "rcp",
                           "none",
                           "10.66.0.0/24",
                           "\"fd77::/64\"",
                           "10.66.0.1/24",
                           "\"02:00:00:00:00:55\"",
                           "spare",
                           "core",
                           "bob",
                           "alice",
                           "dave",
                           "erin",
                           "rest",
                           "gold",
                           "af9",
                           "239.7.7.9",
                           "\"ff3e::8000:9\"",
                           "\"fd00:9::1\"",
                           "\"4c:00.0\"",
                           "\"net_null1,size=64\"",
                           "ring",
                           "memif",
                           "answer",
                           "off",
                           "file",
                           "on",
                           "{linux: {addresses: kernel}}"})
    if (word != value) all.emplace_back(word);
  return all;
}

TEST(ReloadPlan, MentionsEveryKeyOfEveryForm) {
  std::ifstream in(kEveryKey);
  std::stringstream text;
  text << in.rdbuf();
  config::Mistakes mistakes(kEveryKey);
  const auto tree = config::parse_yaml(text.str(), mistakes);
  ASSERT_TRUE(tree);
  std::vector<std::pair<std::string, std::string>> scalars;
  collect(*tree, "", scalars);
  ASSERT_GT(scalars.size(), 200U);
  const config::Topology running = load();
  const std::string before = config::resolved_text(running);
  std::vector<std::string> never;
  size_t changed = 0;
  // Reading the file takes a fifth of a second in instrumented builds.
  constexpr size_t kEach = kInstrumented ? 61 : 1;
  for (size_t i = 0; i < scalars.size(); i += kEach) {
    const auto& [path, value] = scalars[i];
    if (apart(path)) continue;
    std::vector<std::vector<config::Setting>> tries;
    if (const auto own = special().find(path); own != special().end()) {
      tries.push_back(own->second);
    } else {
      for (const std::string& other : others(value)) tries.push_back({{path, other}});
    }
    bool valid = false;
    for (const auto& settings : tries) {
      const auto wanted = config::load_file(kEveryKey, settings);
      if (!wanted && special().contains(path))
        ADD_FAILURE() << path << ": " << wanted.error().front().text();
      if (!wanted) continue;
      const Plan p = plan(running, *wanted, 1);
      // A value may equal the one that was assumed; the topology must differ.
      if (p.empty() && config::resolved_text(*wanted) == before) continue;
      valid = true;
      EXPECT_FALSE(p.empty()) << path << ": " << value << " -> " << settings[0].value;
      ++changed;
      break;
    }
    if (!valid) never.emplace_back(path).append(": ").append(value);
  }
  std::string all;
  for (const std::string& n : never) all.append(n).append("\n");
  EXPECT_TRUE(never.empty()) << changed << " keys were changed, not these:\n" << all;
}

}  // namespace
}  // namespace turnpike::router::plan_test
