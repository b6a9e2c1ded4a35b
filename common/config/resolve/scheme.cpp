// SPDX-License-Identifier: BSD-3-Clause
// A law or protocol with all of its parameters.
#include <vector>

#include "common/config/resolve/parts.h"
#include "common/config/scalars.h"
#include "common/protocols/registry.h"

namespace turnpike::config {

std::string scheme_text(const std::string& name, const ParamValues& params, bool link) {
  const Protocol* protocol = find_protocol(name);
  if (protocol == nullptr) return name;  // a link's "none"
  const auto specs = link ? protocol->link_params : protocol->flow_params;
  std::vector<YamlPair> values;
  for (size_t i = 0; i < specs.size(); ++i)
    values.push_back({std::string(specs[i].name), parameter_text(specs[i], params[i])});
  return mapped({{name, mapped(values)}});
}

}  // namespace turnpike::config
