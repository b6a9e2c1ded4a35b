// SPDX-License-Identifier: BSD-3-Clause
// Groups and customers.
#include <string>
#include <vector>

#include "common/config/address.h"
#include "common/config/resolve/parts.h"
#include "common/config/scalars.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

template <class Prefix>
void add_prefixes(const std::vector<CustomerPrefix<Prefix>>& all,
                  std::vector<std::vector<std::string>>& out) {
  for (const auto& p : all)
    if (p.customer < out.size()) out[p.customer].push_back(in_quotes(prefix_text(p.prefix)));
}

}  // namespace

void write_customers(YamlWriter& out, const Topology& t) {
  if (!t.groups.empty())
    out.map("groups", [&] {
      for (const Group& g : t.groups)
        out.put(plain(g.name), mapped({{"weight", number(g.weight)}}));
    });
  const size_t by_hand = t.customers.size() - t.customers_in_table;
  std::vector<std::vector<std::string>> prefixes(by_hand);
  add_prefixes(t.ipv4_customers, prefixes);
  add_prefixes(t.ipv6_customers, prefixes);
  if (by_hand > 0)
    out.map("customers", [&] {
      for (size_t i = 0; i < by_hand; ++i) {
        const Customer& c = t.customers[i];
        std::vector<YamlPair> keys{{"budget", to_text(c.budget)}};
        if (c.ceiling.count() > 0) keys.push_back({"ceiling", to_text(c.ceiling)});
        if (!prefixes[i].empty()) keys.push_back({"prefix", listed(prefixes[i])});
        std::vector<std::string> links;
        for (const size_t l : c.links) links.push_back(plain(t.links[l].name));
        if (!links.empty()) keys.push_back({"link", listed(links)});
        if (c.group != kNoIndex) keys.push_back({"group", plain(t.groups[c.group].name)});
        out.put(plain(c.name), mapped(keys));
      }
    });
  if (!t.customer_table.empty()) out.put("customer_table", in_quotes(t.customer_table));
}

}  // namespace turnpike::config
