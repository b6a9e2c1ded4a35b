// SPDX-License-Identifier: BSD-3-Clause
// The parts of resolved_text(), each written by a file of its own.
#pragma once

#include <string>
#include <vector>

#include "common/config/topology.h"
#include "common/config/yaml_writer.h"

namespace turnpike::config {

/// `link`: the law of a link ("none" is one), else the protocol of a flow.
std::string scheme_text(const std::string& name, const ParamValues& params, bool link);
/// Adds the key of the direction's classes, if it has any.
void add_classes(const Direction& direction, std::vector<YamlPair>& out);

void write_hosts(YamlWriter& out, const Topology& topology);
void write_routers(YamlWriter& out, const Topology& topology);
void write_links(YamlWriter& out, const Topology& topology);
void write_customers(YamlWriter& out, const Topology& topology);
void write_gateways(YamlWriter& out, const Topology& topology);
void write_trees(YamlWriter& out, const Topology& topology);
void write_traffic(YamlWriter& out, const Topology& topology);

}  // namespace turnpike::config
