// SPDX-License-Identifier: BSD-3-Clause
// Mistakes in single values and keys: each is reported at its place.
#include "common/config/reader.h"

#include "common/config/marked_file.h"

namespace turnpike::config {
namespace {

TEST(Reader, TakesARightFile) { expect_right(std::string(kRightFile)); }

TEST(Reader, UnknownKeys) {
  expect_mistakes(changed("budget: 1", "^bugdet: 1"),
                  {"hosts.alice.bugdet: unknown key (did you mean 'budget'?)"});
  expect_mistakes(changed("", "^trafic: {}\n"), {"trafic: unknown key (did you mean 'traffic'?)"});
  expect_mistakes(changed("rate: 1 Gbps", "rate: 1 Gbps, ^colour: red"),
                  {"links.left.colour: unknown key"});
  // The misspelt key's value is read, too, and its own mistake is reported.
  expect_mistakes(changed("rate: 1 Gbps", "^rtae: ^1"),
                  {"links.left.rtae", "links.left.rate: '1' has no unit"});
}

TEST(Reader, DuplicateAndMissingKeys) {
  expect_mistakes(changed("delay: 1 ms", "delay: 1 ms, ^delay: 2 ms"),
                  {"links.left.delay: duplicate key"});
  expect_mistakes(
      changed("  left: {ends: [alice, gate], rate: 1 Gbps", "  ^left: {ends: [alice, gate]"),
      {"links.left: missing key 'rate'"});
  expect_mistakes(changed("one: {from: alice, to: bob}", "^one: {from: alice}"),
                  {"traffic.flows.one: missing key 'to'"});
  expect_mistakes("^^run: {}\n", {": missing key 'hosts'", ": missing key 'links'"});
}

TEST(Reader, WrongTypes) {
  expect_mistakes(changed("rate: 1 Gbps", "rate: ^[1 Gbps]"),
                  {"must be a single value, not a list"});
  expect_mistakes(changed("rate: 1 Gbps", "rate: ^{a: 1}"), {"must be a single value, not a map"});
  expect_mistakes(changed("bob: {}", "bob: ^5"), {"hosts.bob: must be a map"});
  expect_mistakes(changed("{ends: [alice, gate], rate: 1 Gbps, delay: 1 ms}", "^[]"),
                  {"links.left: must be a map"});
  expect_mistakes(changed("{from: alice, to: bob}", "^alice"),
                  {"traffic.flows.one: must be a map"});
  expect_mistakes(changed("ends: [alice, gate]", "ends: ^alice"),
                  {"links.left.ends: must be a list"});
  expect_mistakes(changed("[alice, gate]", "^[alice, gate, bob]"), {"must list 2, not 3"});
  expect_mistakes(changed("bob: {}", "bob: {external: ^yes}"), {"'yes' is neither true nor false"});
  expect_mistakes(changed("to: bob", "to: bob, count: ^2.5"), {"'2.5' is not a whole number"});
  expect_mistakes(changed("to: bob", "to: bob, count: ^\"2\""), {"without quotes"});
  expect_mistakes(changed("to: bob", "to: bob, ip_version: ^5"), {"'5' is neither 4 nor 6"});
  expect_mistakes(changed("to: bob", "to: bob, start: ^~"),
                  {"traffic.flows.one.start: has no value"});
}

TEST(Reader, Units) {
  expect_mistakes(changed("rate: 1 Gbps", "rate: ^1000"),
                  {"has no unit: write a number and one of bps, Kbps, Mbps, Gbps, Tbps"});
  expect_mistakes(changed("delay: 1 ms", "delay: ^1 Mbps"),
                  {"unknown unit 'Mbps': write a number and one of ns, us, ms, s"});
  expect_mistakes(changed("budget: 1 $/s", "budget: ^1"), {"one of $/s"});
  expect_mistakes(changed("delay: 1 ms", "delay: 1 ms, buffer: ^64"),
                  {"such as '64 KB', or '1 BDP'"});
  expect_mistakes(changed("delay: 1 ms", "delay: 1 ms, buffer: ^x BDP"),
                  {"'x' is not a number before BDP"});
}

TEST(Reader, RangesAndNumbersThatAreNone) {
  expect_mistakes(changed("rate: 1 Gbps", "rate: ^0 bps"), {"out of range: 1 Kbps to 10 Tbps"});
  expect_mistakes(changed("rate: 1 Gbps", "rate: ^nan bps"), {"not a finite number"});
  expect_mistakes(changed("rate: 1 Gbps", "rate: ^inf Gbps"), {"not a finite number"});
  expect_mistakes(changed("rate: 1 Gbps", "rate: ^1e999 Gbps"), {"not a finite number"});
  expect_mistakes(changed("delay: 1 ms", "delay: ^-1 ms"), {"out of range: 0 s to 10 min"});
  expect_mistakes(changed("budget: 1 $/s", "budget: ^-1 $/s"), {"out of range"});
  expect_mistakes(changed("to: bob", "to: bob, share: ^.nan"), {"'.nan' is not a number"});
  expect_mistakes(changed("to: bob", "to: bob, share: ^0"), {"out of range"});
  expect_mistakes(changed("to: bob", "to: bob, stop: ^-1 s"), {"'-1 s' is negative"});
  expect_mistakes(changed("duration: 10 s", "udp_port: ^65536"), {"'65536' is too large"});
  expect_mistakes(changed("delay: 1 ms", "mtu: ^67"),
                  {"links.left.mtu: '67' is out of range: 68 to 65535"});
  expect_mistakes(changed("delay: 1 ms", "buffer: ^2000 BDP"), {"0.001 BDP to 1000 BDP"});
}

TEST(Reader, WordsAndNames) {
  expect_mistakes(changed("bob: {}", "bob: {strategy: ^equal-budgets}"),
                  {"(did you mean 'equal-budget'?)"});
  expect_mistakes(changed("delay: 1 ms", "drain: ^linerate"), {"(did you mean 'line-rate'?)"});
  expect_mistakes(changed("one: {from", "^\"o/ne\": {from"), {"a name is 1 to 48 letters"});
  expect_mistakes(changed("duration: 10 s", "name: ^a/b"), {"run.name: 'a/b' is no name"});
}

TEST(Reader, LawsAndTheirParameters) {
  expect_mistakes(changed("law: fcp", "law: ^fpc"),
                  {"there is no scheme 'fpc' (did you mean 'fcp'?)"});
  expect_mistakes(changed("law: fcp", "law: {fcp: {^alhpa: 2}}"),
                  {"unknown parameter (did you mean 'alpha'?)"});
  expect_mistakes(changed("law: fcp", "law: {fcp: {alpha: ^-1}}"),
                  {"links.right.law.fcp.alpha: '-1' is out of range"});
  expect_mistakes(changed("law: fcp", "law: {fcp: {first_rtt: ^0.1}}"), {"'0.1' has no unit"});
  expect_mistakes(changed("law: fcp", "law: {fcp: {first_rtt: ^1 h}}"),
                  {"out of range: 1 us to 10 s"});
  expect_mistakes(changed("law: fcp", "law: ^[fcp]"), {"must be a scheme's name"});
  expect_mistakes(changed("to: bob", "to: bob, protocol: ^none"), {"there is no scheme 'none'"});
  const Topology t = expect_right(changed("law: fcp", "law: {fcp: {alpha: 3}}"));
  EXPECT_EQ(t.links[1].directions[0].law.params[0], 3);
}

TEST(Reader, Addresses) {
  expect_mistakes(changed("bob: {}", "bob: {addresses: ^10.0.0.1}"), {"lacks its prefix length"});
  expect_mistakes(changed("bob: {}", "bob: {addresses: [^ten]}"),
                  {"hosts.bob.addresses[0]: 'ten' is not an address"});
  expect_mistakes(changed("bob: {}", "bob: {mac: ^01:00:5e:00:00:01}"), {"group address"});
  expect_mistakes(changed("bob: {}", "bob: {mac: ^xx}"), {"is not a MAC address"});
  expect_mistakes(changed("delay: 1 ms", "attach: {gate: {pci: ^3b-00}}"),
                  {"is not a PCI address"});
  for (const char* impossible : {"3b:20.0", "3b:00.8"})
    expect_mistakes(
        changed("delay: 1 ms", "attach: {gate: {pci: ^" + std::string(impossible) + "}}"),
        {"is not a PCI address"});
  expect_mistakes(changed("delay: 1 ms", "attach: {gate: {pci: {address: ^3b-00}}}"),
                  {"links.left.attach.gate.pci.address: '3b-00' is not a PCI address"});
  expect_mistakes(changed("delay: 1 ms", "attach: {gate: {^pci: {flow_control: on}}}"),
                  {"links.left.attach.gate.pci: missing key 'address'"});
  expect_mistakes(
      changed("delay: 1 ms", "attach: {gate: {pci: {address: 3b:00.0, flow_control: ^onn}}}"),
      {"'onn' is not known (did you mean 'on'?)"});
  expect_mistakes(changed("delay: 1 ms", "attach: {gate: {pci: ^[3b:00.0]}}"), {"must be a map"});
  expect_mistakes(changed("delay: 1 ms", "attach: {gate: {af_packet: ^a/b}}"),
                  {"cannot be a network interface's name"});
}

TEST(Reader, Choices) {
  expect_mistakes(changed("delay: 1 ms", "attach: ^mmif"), {"'mmif' is not one of pci, memif"});
  expect_mistakes(changed("delay: 1 ms", "attach: ^pci"), {"'pci' needs its value"});
  expect_mistakes(changed("delay: 1 ms", "attach: {gate: ^{pci: 3b:00.0, tap: x}}"),
                  {"must be one of pci"});
  expect_mistakes(changed("delay: 1 ms", "attach: {gate: {^dpdk: 1}}"), {"'dpdk' is not one of"});
}

TEST(Reader, HoldsTogetherWhateverTheFile) {
  for (const char* text :
       {"a", "[]", "{}", "~", "- a\n- b\n", "hosts: []\nlinks: 1\n", "hosts:\nlinks:\n",
        "? [a]\n: b\n", "? {}\n", "hosts: {a: [b]}\nlinks: {l: ~}\ntraffic: [x]\n",
        "hosts: {~: {}}\nlinks: {x: {ends: [~, ~]}}\n"})
    EXPECT_FALSE(load_text(text, "f").has_value()) << text;
  EXPECT_FALSE(load_file("/").has_value());
  EXPECT_FALSE(load_file("/no/such/file").has_value());
  EXPECT_FALSE(load_file("/dev/zero").has_value());
}

}  // namespace
}  // namespace turnpike::config
