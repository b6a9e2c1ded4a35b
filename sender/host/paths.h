// SPDX-License-Identifier: BSD-3-Clause
// Header templates of a host's packets, built once per destination: at the start, or for its first
// flow.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "common/config/topology.h"
#include "common/wire/frame_builder.h"

namespace turnpike::sender {

/// A destination is a host or a tree (Topology::destination_of()), an IP version and a DSCP.
/// Templates have source port 0.
class Paths {
 public:
  // The dynamic ports (RFC 6335). Each flow has one of its own, as TCP has, so that RSS, ECMP and
  // fair queues tell the flows of a host apart.
  static constexpr unsigned kPorts = 16384;
  static constexpr uint16_t kFirstPort = 49152;

  /// Of the destinations of this host's flows and workloads. `populated`: builds all templates now;
  /// otherwise find() does, and allocates. The topology must outlive it then.
  Paths(const config::Topology& topology, uint32_t host, bool populated = true);
  /// Builds a template for each of these destinations and DSCPs.
  Paths(std::span<const wire::FrameSpec> destinations, std::span<const unsigned> dscps);

  /// Index of the path to destination `to`; kNone: it is no destination of this host.
  [[nodiscard]] uint16_t find(uint32_t to, unsigned ip_version, unsigned dscp);
  [[nodiscard]] const wire::FrameTemplate& operator[](uint16_t path) const {
    return templates_[path];
  }
  /// The source port of the `opened`-th flow of a host.
  [[nodiscard]] static uint16_t source_port(uint32_t opened) {
    return static_cast<uint16_t>(kFirstPort + opened % kPorts);
  }

 private:
  // A destination with a DSCP other than 0, of which there are few.
  struct Marked {
    size_t slot;
    unsigned dscp;
    uint16_t path;
  };
  static constexpr uint16_t kNone = UINT16_MAX;

  static size_t slot(uint32_t to, unsigned ip_version) { return to * 2 + (ip_version == 6); }
  [[nodiscard]] static wire::FrameSpec spec_of(const config::Topology& topology, uint32_t host,
                                               size_t to, unsigned ip_version);
  [[nodiscard]] uint16_t find_built(uint32_t to, unsigned ip_version, unsigned dscp) const;
  uint16_t build(unsigned dscp, wire::FrameSpec spec);
  /// Adds a template, unless there is one for these.
  void add(uint32_t to, unsigned ip_version, unsigned dscp, wire::FrameSpec spec);

  std::vector<wire::FrameTemplate> templates_;
  std::vector<uint16_t> plain_;  // by slot(), without DSCP: index of the template
  std::vector<Marked> marked_;
  const config::Topology* topology_ = nullptr;  // to build templates from; null: all are built
  uint32_t host_ = 0;
  std::map<std::pair<size_t, unsigned>, uint16_t> on_demand_;  // by slot() and DSCP
};

}  // namespace turnpike::sender
