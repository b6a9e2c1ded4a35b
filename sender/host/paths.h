// SPDX-License-Identifier: BSD-3-Clause
// Header templates of a host's packets, built once per destination.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/config/topology.h"
#include "common/wire/frame_builder.h"

namespace turnpike::sender {

/// A destination is a host or a tree (Topology::destination_of()), an IP version and a DSCP. Flows
/// to it use several UDP source ports, so that RSS spreads them; a flow keeps its port.
class Paths {
 public:
  static constexpr unsigned kPorts = 16;
  static constexpr uint16_t kFirstPort = 49152;  // the dynamic ports (RFC 6335)

  /// Builds templates for every destination of this host's flows and workloads.
  Paths(const config::Topology& topology, uint32_t host);
  /// Builds templates for each of these destinations; their source ports are set here.
  explicit Paths(std::span<const wire::FrameSpec> destinations);

  /// Index of the path of the `spread`-th flow to destination `to`.
  [[nodiscard]] uint16_t find(uint32_t to, unsigned ip_version, unsigned dscp,
                              uint32_t spread) const;
  [[nodiscard]] const wire::FrameTemplate& operator[](uint16_t path) const {
    return templates_[path];
  }
  [[nodiscard]] static uint16_t source_port(uint16_t path) {
    return static_cast<uint16_t>(kFirstPort + path % kPorts);
  }

 private:
  // A destination with a DSCP other than 0, of which there are few.
  struct Marked {
    size_t slot;
    unsigned dscp;
    uint16_t first;
  };
  static constexpr uint16_t kNone = UINT16_MAX;

  static size_t slot(uint32_t to, unsigned ip_version) { return to * 2 + (ip_version == 6); }
  /// Index of the destination's first template; kNone: it is none.
  [[nodiscard]] uint16_t first(uint32_t to, unsigned ip_version, unsigned dscp) const;
  void add(const config::Topology& topology, uint32_t host, size_t to, const auto& traffic);
  void add_templates(wire::FrameSpec spec);

  std::vector<wire::FrameTemplate> templates_;
  std::vector<uint16_t> first_;  // by slot(), without DSCP: index of the first of kPorts templates
  std::vector<Marked> marked_;
};

}  // namespace turnpike::sender
