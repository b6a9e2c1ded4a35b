// SPDX-License-Identifier: BSD-3-Clause
// The list of congestion control schemes. A new protocol is a folder and a line here.
//
// Example:
//
//     const Protocol& rcp = *find_protocol("rcp");
//     const ParamValues params = preset_values(rcp, /*link=*/true, "paper");
//     const auto law = rcp.make_link_law(params, /*shards=*/1, /*seed=*/1);
//     const LinkState link{.capacity = 12.5e6, .queue = 3000, .buffer = 125e3};  // B/s, B, B
//     LinkPacket packet{.size = 1500};  // without a congestion header: traffic of another protocol
//     const uint64_t refused = law->arrive(/*shard=*/0, {&packet, 1}, link, 1_s);
//     const Nanos next_update = law->update(link, 1_s);
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>

#include "common/protocols/charge.h"
#include "common/protocols/flow_law.h"
#include "common/protocols/link_class.h"
#include "common/protocols/link_law.h"
#include "common/protocols/param.h"
#include "common/protocols/receiver_law.h"

namespace turnpike {

/// A scheme as router, sender and configuration use it.
struct Protocol {
  std::string_view name;    // as topology files write it
  uint8_t id;               // in packets; 0 is never used
  uint8_t header_size;      // B of its congestion header, a multiple of 4
  bool end_to_end = false;  // flows find their rate without a law on any link
  std::span<const ParamSpec> link_params;
  std::span<const ParamSpec> flow_params;
  std::span<const Preset> presets;  // overrides of the default preset, if any, and of others
  /// `seed`: of the law's random numbers; link_seed() makes one.
  std::unique_ptr<LinkLaw> (*make_link_law)(const ParamValues&, unsigned shards, uint64_t seed);
  /// Constructs the law at the beginning of `storage`, FlowLaw::kMaxBytes bytes aligned to 64.
  FlowLaw* (*make_flow_law)(const ParamValues&, void* storage);
  /// Likewise in ReceiverLaw::kMaxBytes bytes; null: receivers echo headers.
  ReceiverLaw* (*make_receiver_law)(void* storage) = nullptr;
  /// Whether flows with these parameters exceed their budget on purpose, for experiments; null:
  /// none do.
  bool (*cheats)(const ParamValues&) = nullptr;
  /// Reads the money that packets pay, owe and promise; null: the protocol has none.
  const ChargeReader* charge = nullptr;
  /// Offset of the value of a packet's money in its congestion header, a bfloat16; 0: it has none.
  uint8_t exchange_at = 0;
  /// A law for a link with classes; null: the scheme has none. At least two classes.
  std::unique_ptr<LinkLaw> (*make_classed_law)(const ParamValues&, std::span<const ClassRule>,
                                               unsigned shards, uint64_t seed) = nullptr;
};

/// Constructs a law for a registry entry. A link's law may omit the seed, a flow's the parameters.
template <class Law>
std::unique_ptr<LinkLaw> make_link_law(const ParamValues& params, unsigned shards, uint64_t seed) {
  if constexpr (std::is_constructible_v<Law, const ParamValues&, unsigned, uint64_t>) {
    return std::make_unique<Law>(params, shards, seed);
  } else {
    return std::make_unique<Law>(params, shards);
  }
}
template <class Law>
FlowLaw* make_flow_law(const ParamValues& params, void* storage) {
  static_assert(sizeof(Law) <= FlowLaw::kMaxBytes);
  if constexpr (std::is_constructible_v<Law, const ParamValues&>) {
    return new (storage) Law(params);
  } else {
    return new (storage) Law;
  }
}
template <class Law>
ReceiverLaw* make_receiver_law(void* storage) {
  static_assert(sizeof(Law) <= ReceiverLaw::kMaxBytes);
  static_assert(alignof(Law) <= 8);
  return new (storage) Law;
}

std::span<const Protocol> protocols();
/// Null when there is none.
const Protocol* find_protocol(std::string_view name);
const Protocol* find_protocol(uint8_t id);

/// Preset of files that name none. Protocols that do not list it use every fallback.
inline constexpr std::string_view kDefaultPreset = "turnpike";
/// Names of all protocols' presets, each once, the default's first.
std::span<const std::string_view> preset_names();
/// Parameters of the protocol's link law (`link`) or flow law in preset `name`; the fallbacks if
/// the protocol has no such preset.
ParamValues preset_values(const Protocol& protocol, bool link, std::string_view name);

}  // namespace turnpike
