// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/link_param.h"

#include "common/protocols/registry.h"

namespace turnpike::config {

std::optional<size_t> link_param(const LawChoice& law, std::string_view name) {
  const Protocol* protocol = find_protocol(law.protocol);
  for (size_t i = 0; protocol != nullptr && i < law.params.size(); ++i)
    if (protocol->link_params[i].name == name) return i;
  return {};
}

}  // namespace turnpike::config
