// SPDX-License-Identifier: BSD-3-Clause
// A thread's Linux capabilities (capabilities(7)) as a set of bits.
#pragma once

#include <cstdint>
#include <string>

#include <linux/capability.h>

namespace turnpike {

/// Bit i is capability i.
using Capabilities = uint64_t;

constexpr Capabilities capability(unsigned number) { return Capabilities{1} << number; }

constexpr Capabilities kNetworkCapabilities = capability(CAP_NET_RAW) | capability(CAP_NET_ADMIN);

/// Drops all capabilities of the calling thread but `keep`, of which it gains none: permitted,
/// effective and, where the thread may (CAP_SETPCAP), bounding set; the inheritable and ambient
/// sets become empty. Sets no_new_privs. Returns 0 or an errno. Async-signal-safe, which libcap's
/// functions are not.
int keep_capabilities(Capabilities keep);

/// The calling thread's effective set.
Capabilities effective_capabilities();

/// Names such as "CAP_NET_RAW CAP_NET_ADMIN"; "none", "all", or a number for those that this
/// program never needs.
std::string capabilities_text(Capabilities set);

}  // namespace turnpike
