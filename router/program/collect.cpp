// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/collect.h"

#include <rte_version.h>

#include "common/program/version.h"
#include "router/program/gateway_accounts.h"

namespace turnpike::router {

Figures collect(const Engine& engine, const std::string& node, const ReadAt& at) {
  Figures f;
  f.node = node;
  std::string_view dpdk = rte_version();  // "DPDK 22.11.3"
  dpdk.remove_prefix(dpdk.find_last_of(' ') + 1);
  f.build = {std::string(project_version()), std::string(commit()), std::string(dpdk)};
  f.started = at.started;
  f.updated = at.unix_now;
  f.time = at.now;
  f.generation = at.generation;
  const Router& router = engine.router();
  f.counters = router.snapshot();
  for (size_t l = 0; l < f.counters.links.size(); ++l) f.waits.push_back(router.waits(l));
  f.ports = engine.ports();
  f.lcores = engine.lcores();
  f.customers = router.customers();
  f.offenders = router.offenders();
  f.accounts = accounts_of(engine.gateway());
  f.peers = peers_of(engine.gateway());
  f.gateway = figures_of(engine.gateway());
  return f;
}

}  // namespace turnpike::router
