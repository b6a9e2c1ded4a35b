// SPDX-License-Identifier: BSD-3-Clause
#include "router/reload/key_changes.h"

#include <algorithm>

namespace turnpike::router {
namespace {

const config::Gateway* gateway_of(const config::Topology& t, const std::string& router) {
  const auto at = std::ranges::find(
      t.gateways, router, [&](const config::Gateway& g) { return t.routers[g.router].name; });
  return at == t.gateways.end() ? nullptr : &*at;
}

std::string count_of(size_t keys) {
  return keys == 0 ? "none" : std::to_string(keys) + (keys == 1 ? " key" : " keys");
}

/// The keys of a peer before and after, without their bytes.
std::string text_of(const std::vector<SecretBytes>& before, const std::vector<SecretBytes>& after) {
  if (before.size() != after.size()) return count_of(after.size());
  return std::ranges::is_permutation(before, after) ? count_of(after.size()) + " in another order"
                                                    : count_of(after.size()) + ", not the same";
}

}  // namespace

std::string key_obstacle(const config::Topology& topology, const std::string& router) {
  const config::Gateway* const g = gateway_of(topology, router);
  if (g == nullptr || !g->security) return {};
  const std::string file = "gateway " + router + ": the key file '" + g->security->key_file + "'";
  if (!g->security->unread.empty()) return file + " cannot be read: " + g->security->unread;
  if (g->security->exposed)
    return file + " may be read by others than its owner: chmod 600 " + g->security->key_file;
  return {};
}

std::vector<std::string> key_files(const config::Topology& topology, const std::string& router) {
  const config::Gateway* const g = gateway_of(topology, router);
  if (g == nullptr || !g->security) return {};
  return {g->security->key_file};
}

std::vector<PlannedChange> key_changes(const config::Topology& running,
                                       const config::Topology& wanted, const std::string& router) {
  std::vector<PlannedChange> changes;
  const std::string obstacle = key_obstacle(wanted, router);
  for (const config::Gateway& next : wanted.gateways) {
    const std::string& name = wanted.routers[next.router].name;
    const config::Gateway* const before = gateway_of(running, name);
    // A gateway that begins or ends to encrypt is a change of its key `security`.
    if (before == nullptr || !before->security || !next.security) continue;
    for (const config::GatewayPeer& peer : next.peers) {
      const auto own = std::ranges::find(before->peers, peer.name, &config::GatewayPeer::name);
      if (own == before->peers.end() || own->keys == peer.keys) continue;
      PlannedChange& change = changes.emplace_back();
      change.path = "gateways." + name + ".security: keys of " + peer.name;
      change.from = count_of(own->keys.size());
      change.to = text_of(own->keys, peer.keys);
      if (name != router) {
        change.effect = Effect::kElsewhere;
        change.note = "not this router's: another gateway's";
      } else if (!obstacle.empty()) {
        change.effect = Effect::kRefused;
        change.note = obstacle;
      } else {
        change.note = "packets on their way open if their key is still there";
      }
    }
  }
  return changes;
}

}  // namespace turnpike::router
