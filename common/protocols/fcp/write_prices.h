// SPDX-License-Identifier: BSD-3-Clause
// Writes prices from columns back into packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/protocols/fcp/header_batch.h"
#include "common/protocols/link_law.h"

namespace turnpike::fcp {

/// Writes the price of each stamped row into its packet's header, unless the packet is dropped.
/// `all`: every packet has a header, is admitted and is not refused. `refused`: bit k is packet k.
inline void write_prices(const HeaderBatch& rows, std::span<const LinkPacket> burst, bool all,
                         uint64_t refused) {
  if (all) [[likely]] {
    for (size_t k = 0; k < burst.size(); ++k) rows.write_price(k, burst[k].header);
    return;
  }
  for (size_t k = 0; k < burst.size(); ++k) {
    const LinkPacket& p = burst[k];
    if (p.header != nullptr && p.admitted && (refused >> k & 1) == 0) rows.write_price(k, p.header);
  }
}

}  // namespace turnpike::fcp
