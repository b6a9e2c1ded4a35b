// SPDX-License-Identifier: BSD-3-Clause
// A topology file, typed. load() fills in omitted values, so that every consumer sees a complete
// network.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/config/topology/customers.h"
#include "common/config/topology/gateways.h"
#include "common/config/topology/hosts.h"
#include "common/config/topology/links.h"
#include "common/config/topology/routers.h"
#include "common/config/topology/run.h"
#include "common/config/topology/streams.h"
#include "common/config/topology/traffic.h"
#include "common/config/topology/trees.h"

namespace turnpike::config {

/// A complete network and its traffic. Indices refer to these vectors.
struct Topology {
  Run run;
  std::vector<Host> hosts;
  std::vector<Router> routers;
  std::vector<Link> links;
  std::vector<Tree> trees;
  std::vector<Flow> flows;
  std::vector<Workload> workloads;
  std::vector<Stream> streams;
  std::vector<Group> groups = {};
  std::vector<Customer> customers = {};  // those of `customer_table` last, named by their prefixes
  std::vector<CustomerPrefix<Ipv4Prefix>> ipv4_customers = {};
  std::vector<CustomerPrefix<Ipv6Prefix>> ipv6_customers = {};
  std::vector<Gateway> gateways = {};
  std::string customer_table = {};  // file of customers, empty: none
  size_t customers_in_table = 0;
  std::vector<std::string> edge_lists = {};  // files of generated networks

  [[nodiscard]] const Interface& interface_of(const Host& h) const {
    return links[h.link].ends[h.end];
  }

  /// Number of a flow's destination: of a host its index, of a tree its index behind all hosts.
  [[nodiscard]] size_t destination_of(const Flow& f) const {
    return f.tree == kNoTree ? f.to : hosts.size() + f.tree;
  }
  [[nodiscard]] const std::string& destination_name(size_t destination) const {
    return destination < hosts.size() ? hosts[destination].name
                                      : trees[destination - hosts.size()].name;
  }
};

}  // namespace turnpike::config
