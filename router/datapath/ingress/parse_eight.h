// SPDX-License-Identifier: BSD-3-Clause
// Fast path of the parse stage for eight packets at a time, with vectors of AVX-512.
#pragma once

#include "router/datapath/ingress/parse_fast.h"

namespace turnpike::router {

/// Sets of a burst's packets, by parse_eight().
struct ParsedEight {
  uint32_t ipv4 = 0, ipv6 = 0;  // accepted
  uint32_t to_turnpike = 0;     // of these, those whose Turnpike header is still to be checked
  uint64_t bytes = 0;           // of their datagrams, B
};

/// Makes the checks of parse_fast() and usual_turnpike() for the packets of a burst, eight at a
/// time, while eight are left. Does for each accepted packet what parse_fast() does, with the
/// destination in the burst's array. Leaves other packets unchanged and their metadata unspecified.
/// These may be packets that parse_fast() accepts: those whose checksum is right by the NIC's
/// verdict alone, those beside a frame too short for the checks, and all that follow eight packets
/// of which none is accepted.
using ParseEight = ParsedEight (*)(Burst& burst, const FastStation& station, const Tables& tables);

/// The function for this machine's CPU; null: it has no AVX-512.
ParseEight parse_eight();

}  // namespace turnpike::router
