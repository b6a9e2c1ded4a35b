// SPDX-License-Identifier: BSD-3-Clause
// Reports of the reader of the kernel's state: resynchronisations and changes of links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/units/units.h"
#include "router/linux/interfaces.h"

namespace turnpike::router {

/// Why the whole state was read again.
enum class ResyncReason : uint8_t {
  kStart,
  kOverrun,         // the socket's buffer was full: messages were lost
  kInterrupted,     // a dump was, by changes (NLM_F_DUMP_INTR)
  kLinkDown,        // the kernel removes routes, without a message, with a link, ...
  kAddressChanged,  // ... an address; next hops may live again with a new one
  kNexthopRemoved,  // ... or a nexthop object
  kAmbiguous,       // a message may have meant one of two things
  kPeriodic,
  kRequested,
  kCount,
};

std::string_view to_text(ResyncReason reason);

struct Resync {
  ResyncReason reason = ResyncReason::kStart;
  Nanos duration{0};      // of all dumps
  uint64_t lost = 0;      // messages since the last one
  uint64_t messages = 0;  // of its dumps
  uint64_t routes = 0;    // held after it
  bool complete = true;   // false: another one follows, as dumps were interrupted
};

/// "resynchronised with the kernel (overrun, 1204 messages lost): 100012 routes in 130 ms"
std::string to_text(const Resync& resync);

/// Called from within KernelReader::poll() and KernelState; does nothing unless overridden.
class KernelListener {
 public:
  virtual ~KernelListener() = default;
  /// A link's interface appeared, vanished, or changed its state, MTU or MAC.
  virtual void link_changed([[maybe_unused]] size_t link,
                            [[maybe_unused]] const LinkStatus& status) {}
  virtual void resynchronised([[maybe_unused]] const Resync& resync) {}
};

}  // namespace turnpike::router
