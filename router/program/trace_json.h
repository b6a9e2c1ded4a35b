// SPDX-License-Identifier: BSD-3-Clause
// A traced packet as JSON: its headers in short, each stage with its findings, the verdict.
#pragma once

#include "common/config/topology.h"
#include "router/datapath/probe/trace_record.h"
#include "router/program/control_server.h"

namespace turnpike::router {

/// A packet's record, and that of its departure if there was one.
struct Traced {
  TraceRecord packet;
  TraceRecord departure;
  bool departed = false;
};

/// `unix_offset`: from the records' times to nanoseconds since 1970.
Json trace_json(const Traced& traced, const config::Topology& topology, size_t node,
                int64_t unix_offset);

/// A frame's headers in a line, from as much of it as was kept.
std::string headers_text(const TraceRecord& record);

}  // namespace turnpike::router
