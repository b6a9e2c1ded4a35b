// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/registry.h"

#include <array>

#include "common/protocols/fcp/protocol.h"

namespace turnpike {
namespace {

constexpr std::array kProtocols{fcp::kProtocol};

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

}  // namespace turnpike
