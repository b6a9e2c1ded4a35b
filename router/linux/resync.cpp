// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/resync.h"

namespace turnpike::router {

std::string_view to_text(ResyncReason reason) {
  switch (reason) {
    case ResyncReason::kStart:
      return "start";
    case ResyncReason::kOverrun:
      return "overrun";
    case ResyncReason::kInterrupted:
      return "interrupted";
    case ResyncReason::kLinkDown:
      return "link_down";
    case ResyncReason::kAddressChanged:
      return "address_changed";
    case ResyncReason::kNexthopRemoved:
      return "nexthop_removed";
    case ResyncReason::kAmbiguous:
      return "ambiguous";
    case ResyncReason::kPeriodic:
      return "periodic";
    case ResyncReason::kRequested:
      return "requested";
    case ResyncReason::kCount:
      break;
  }
  return "?";
}

std::string to_text(const Resync& resync) {
  std::string text = "resynchronised with the kernel (" + std::string(to_text(resync.reason));
  if (resync.lost > 0) text += ", " + std::to_string(resync.lost) + " messages lost";
  if (!resync.complete) text += ", interrupted by changes, to be repeated";
  text += "): " + std::to_string(resync.routes) + " routes in ";
  return text + std::to_string(resync.duration.count() / 1'000'000) + " ms";
}

}  // namespace turnpike::router
