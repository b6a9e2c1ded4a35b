// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/registry.h"

#include <algorithm>
#include <array>
#include <vector>

#include "common/protocols/acc/protocol.h"
#include "common/protocols/fcp/protocol.h"
#include "common/protocols/qcp/protocol.h"
#include "common/protocols/qfcp/protocol.h"
#include "common/protocols/rcp/protocol.h"
#include "common/protocols/tcp/protocol.h"
#include "common/protocols/xcp/protocol.h"

namespace turnpike {
namespace {

constexpr std::array kProtocols{
    fcp::kProtocol, rcp::kProtocol,      qfcp::kProtocol, xcp::kProtocol,
    qcp::kProtocol, qcp::kShortProtocol, tcp::kProtocol,  acc::kProtocol,
};

}  // namespace

std::span<const Protocol> protocols() { return kProtocols; }

const Protocol* find_protocol(std::string_view name) {
  for (const Protocol& p : kProtocols)
    if (p.name == name) return &p;
  return nullptr;
}

const Protocol* find_protocol(uint8_t id) {
  for (const Protocol& p : kProtocols)
    if (p.id == id) return &p;
  return nullptr;
}

std::span<const std::string_view> preset_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all{kDefaultPreset};
    for (const Protocol& p : kProtocols)
      for (const Preset& preset : p.presets)
        if (std::ranges::find(all, preset.name) == all.end()) all.push_back(preset.name);
    return all;
  }();
  return names;
}

ParamValues preset_values(const Protocol& protocol, bool link, std::string_view name) {
  const auto specs = link ? protocol.link_params : protocol.flow_params;
  ParamValues values(specs);
  const auto preset = std::ranges::find(protocol.presets, name, &Preset::name);
  if (preset == protocol.presets.end()) return values;
  for (const Preset::Value& v : preset->values) {
    const auto spec = std::ranges::find(specs, v.name, &ParamSpec::name);
    if (v.link == link && spec != specs.end())
      values[static_cast<size_t>(spec - specs.begin())] = v.value;
  }
  return values;
}

}  // namespace turnpike
