// SPDX-License-Identifier: BSD-3-Clause
// The live view of a run whose processes write lines of live JSON.
#pragma once

#include <cstdio>
#include <span>
#include <string>

#include "common/config/topology.h"
#include "common/report/live.h"

namespace turnpike::lab {

/// Shows hosts, and links that have a law; all links where none has one.
class LiveRun {
 public:
  /// `topology` must outlive it.
  LiveRun(const config::Topology& topology, report::LiveStyle style, std::FILE* out)
      : topology_(topology), live_(style, out) {}

  /// Takes a line of a router.
  void router_line(const std::string& line);
  /// Takes a line of the sender of these hosts, entries of Topology::hosts, by name; shows the view
  /// if the hosts' figures are the first ones of their time.
  void sender_line(const std::string& line, std::span<const std::string> hosts);

 private:
  bool apply(const std::string& line, report::LiveView& view);
  void keep_priced();

  const config::Topology& topology_;
  report::Live live_;
  report::LiveView view_;
  double shown_ = -1;  // time of the view that was shown last, s
};

}  // namespace turnpike::lab
