// SPDX-License-Identifier: BSD-3-Clause
// The syntax of a topology file: every key with its member, default, range and meaning.
//
// A visitor has `template <class T> void field(std::string_view key, Field<T>&, const About&)`,
// which is called for every key of a struct in turn. The reader is one visitor, the schema writer
// another. The functions for the structs within FileSpec are in describe/.
#pragma once

#include "common/config/describe/about.h"
#include "common/config/describe/attachments.h"
#include "common/config/describe/classes.h"
#include "common/config/describe/customers.h"
#include "common/config/describe/generate.h"
#include "common/config/describe/links.h"
#include "common/config/describe/nodes.h"
#include "common/config/describe/run.h"
#include "common/config/describe/traffic.h"
#include "common/config/spec.h"
#include "common/protocols/registry.h"

namespace turnpike::config {

template <class V>
void describe(V& v, FileSpec& s) {
  v.field("preset", s.preset,
          {.doc = "named set of parameter overrides, used where the file gives no value",
           .fallback = kDefaultPreset,
           .words = preset_names()});
  v.field("run", s.run, {.doc = "settings of the run"});
  v.field("hosts", s.hosts, {.doc = "sources and sinks by name"});
  v.field("routers", s.routers, {.doc = "routers by name"});
  v.field("links", s.links, {.doc = "links by name"});
  v.field(
      "generate", s.generate,
      {.doc = "networks of a known shape by name, whose hosts, routers and links are added to "
              "those above; in `from` and `to` of workloads the name stands for all its hosts"});
  v.field("trees", s.trees, {.doc = "multicast distribution trees by name"});
  v.field("groups", s.groups,
          {.doc = "groups of customers by name, which share links of FCP with `groups: link` or "
                  "`domain`; customers without one, and packets of no customer, share a group of "
                  "weight 1"});
  v.field("customers", s.customers,
          {.doc = "customers by name; see routers' `enforce`, and `groups`"});
  v.field("customer_table", s.customer_table,
          {.doc = "file of more customers, however many, relative to this one: on each line a "
                  "prefix, a budget without a blank (2$/s) and, if it has one, its group"});
  v.field(
      "gateways", s.gateways,
      {.doc = "routers, by name, that carry customers' packets to each other in priced tunnels"});
  v.field("traffic", s.traffic, {.doc = "traffic of the hosts"});
}

}  // namespace turnpike::config
