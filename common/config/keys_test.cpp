// SPDX-License-Identifier: BSD-3-Clause
// Files of gateways' keys.
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "common/config/marked_file.h"
#include "common/config/resolve.h"

namespace turnpike::config {
namespace {

const std::string kLong(64, 'a'), kOther = std::string(62, 'a') + "Bc", kShort(32, '7');

/// A topology whose gateway west, with peers far and near, has a key file with this text.
class KeyFile : public ::testing::Test {
 protected:
  std::string with(const std::string& keys, bool wrong = false) {
    std::ofstream(path) << keys;
    return R"(hosts: {alice: {budget: 1 $/s}, bob: {}}
routers: {west: {routes: {prefix: 0.0.0.0/0, via: core}}, east: {}}
links:
  alice: {ends: [alice, west], rate: 1 Gbps}
  core: {ends: [west, east], rate: 100 Mbps, law: fcp}
  bob: {ends: [east, bob], rate: 1 Gbps}
gateways:
  west:
    core: core
    peers:
      far: {address: 192.0.2.7, prefix: 10.80.0.0/16}
      near: {address: 192.0.2.8, prefix: 10.81.0.0/16}
    security: {key_file: )" +
           std::string(wrong ? "^" : "") + path + "}\n";
  }
  /// The mistakes of a key file, without its name.
  std::vector<std::string> mistakes(const std::string& keys) {
    const Loaded loaded = load_text(with(keys), "file.yaml");
    std::vector<std::string> all;
    for (const Mistake& m : loaded ? std::vector<Mistake>() : loaded.error()) {
      EXPECT_EQ(m.file, path);
      EXPECT_EQ(m.path, "gateways.west.security.key_file");
      EXPECT_EQ(m.text().find(keys.substr(keys.size() / 2, 12)), std::string::npos)
          << m.text() << " repeats a word of the file";
      all.push_back(std::to_string(m.line) + ":" + std::to_string(m.column) + ": " + m.message);
    }
    return all;
  }
  void TearDown() override { std::filesystem::remove(path); }

  std::string path = ::testing::TempDir() + "turnpike-keys-" + std::to_string(getpid());
};

TEST_F(KeyFile, HasTheFirstKeyOfEachPeerFirst) {
  const Topology t = expect_right(
      with("# ours\n\nfar " + kLong + "\n  near\t" + kShort + "  \nfar " + kOther + "\n"));
  const Gateway& west = t.gateways[0];
  ASSERT_TRUE(west.security);
  EXPECT_EQ(west.security->key_file, path);
  EXPECT_EQ(west.security->unread, "");
  ASSERT_EQ(west.peers[0].keys.size(), 2U);
  EXPECT_EQ(west.peers[0].keys[0], SecretBytes(std::vector<uint8_t>(32, 0xaa)));
  EXPECT_EQ(west.peers[0].keys[1].bytes()[31], 0xbc);
  ASSERT_EQ(west.peers[1].keys.size(), 1U);
  EXPECT_EQ(west.peers[1].keys[0], SecretBytes(std::vector<uint8_t>(16, 0x77)));
}

TEST_F(KeyFile, MayHaveKeysOfOtherGateways) {
  const Topology t =
      expect_right(with("west " + kLong + "\nfar " + kLong + "\nnear " + kLong + "\n"));
  EXPECT_EQ(t.gateways[0].peers[0].keys.size(), 1U);
}

TEST_F(KeyFile, ReportsMistakesWithoutItsWords) {
  const std::string right = "far " + kLong + "\nnear " + kShort + "\n";
  using All = std::vector<std::string>;
  EXPECT_EQ(mistakes(right + "fra " + kOther + "\nnear " + kShort + "\n"),
            (All{"3:1: there is no peer of this name (did you mean 'far'?)",
                 "4:6: this key is there twice for its peer"}));
  EXPECT_EQ(mistakes(right + kOther + " far\n"),
            (All{"3:1: there is no peer of this name (there is far, near)"}));
  EXPECT_EQ(
      mistakes(right + kOther + "\nfar " + kOther + " x\n"),
      (All{"3:1: expected a peer's name and a key", "4:70: expected a peer's name and a key"}));
  EXPECT_EQ(mistakes(right + "far " + kOther + "0\nfar 12345g78\n"),
            (All{"3:5: a key has 64 hexadecimal digits (AES-256) or 32 (AES-128), this one has 65",
                 "4:10: a key consists of hexadecimal digits"}));
}

TEST_F(KeyFile, NeedsAKeyOfEachPeer) {
  expect_mistakes(with("far " + kLong + "\n", /*wrong=*/true), {"has no key of peer 'near'"});
}

TEST_F(KeyFile, MayBeOnAnotherMachine) {
  const std::string text = with("");
  std::filesystem::remove(path);
  const Topology t = expect_right(text);
  ASSERT_TRUE(t.gateways[0].security);
  EXPECT_EQ(t.gateways[0].security->unread, "No such file or directory");
}

TEST_F(KeyFile, IsItsOwnersAlone) {
  const std::string text = with("far " + kLong + "\nnear " + kLong + "\n");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  EXPECT_TRUE(expect_right(text).gateways[0].security->exposed);
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_FALSE(expect_right(text).gateways[0].security->exposed);
}

TEST_F(KeyFile, IsNamedAndNotCopiedByADescribedTopology) {
  const Topology t = expect_right(with("far " + kLong + "\nnear " + kShort + "\n"));
  const std::string described = resolved_text(t);
  EXPECT_NE(described.find("key_file: \"" + path), std::string::npos) << described;
  EXPECT_EQ(described.find(kLong), std::string::npos);
  EXPECT_EQ(expect_right(described).gateways[0].peers[0].keys, t.gateways[0].peers[0].keys);
}

}  // namespace
}  // namespace turnpike::config
