// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/sandbox/capabilities.h"

#include <array>
#include <cerrno>
#include <utility>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace turnpike {
namespace {

constexpr unsigned kWords = 2;  // of 32 capabilities, in _LINUX_CAPABILITY_VERSION_3

using Sets = std::array<__user_cap_data_struct, kWords>;

bool read_sets(Sets& sets) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  return syscall(SYS_capget, &header, sets.data()) == 0;
}

Capabilities joined(uint32_t low, uint32_t high) { return low | Capabilities{high} << 32; }

constexpr std::array<std::pair<unsigned, const char*>, 8> kNames = {{
    {CAP_NET_RAW, "CAP_NET_RAW"},
    {CAP_NET_ADMIN, "CAP_NET_ADMIN"},
    {CAP_BPF, "CAP_BPF"},
    {CAP_IPC_LOCK, "CAP_IPC_LOCK"},
    {CAP_SYS_NICE, "CAP_SYS_NICE"},
    {CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
    {CAP_SYS_RAWIO, "CAP_SYS_RAWIO"},
    {CAP_NET_BIND_SERVICE, "CAP_NET_BIND_SERVICE"},
}};

std::string capability_text(unsigned number) {
  for (const auto& [known, name] : kNames)
    if (known == number) return name;
  return "capability " + std::to_string(number);
}

}  // namespace

int keep_capabilities(Capabilities keep) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0) return errno;
  Sets sets{};
  if (!read_sets(sets)) return errno;
  const Capabilities effective = joined(sets[0].effective, sets[1].effective);
  if ((effective & capability(CAP_SETPCAP)) != 0) {
    for (unsigned i = 0; prctl(PR_CAPBSET_READ, i) >= 0; ++i)
      if ((keep & capability(i)) == 0 && prctl(PR_CAPBSET_DROP, i) != 0) return errno;
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0UL, 0UL, 0UL);  // unknown to Linux before 4.3
  for (unsigned w = 0; w < kWords; ++w) {
    sets[w].permitted &= static_cast<uint32_t>(keep >> (32 * w));
    sets[w].effective = sets[w].permitted;
    sets[w].inheritable = 0;
  }
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  return syscall(SYS_capset, &header, sets.data()) == 0 ? 0 : errno;
}

Capabilities effective_capabilities() {
  Sets sets{};
  return read_sets(sets) ? joined(sets[0].effective, sets[1].effective) : 0;
}

std::string capabilities_text(Capabilities set) {
  if (set == 0) return "none";
  Capabilities all = 0;
  for (unsigned i = 0; i <= CAP_LAST_CAP; ++i) all |= capability(i);
  if ((set & all) == all) return "all";
  std::string text;
  for (unsigned i = 0; i < 64; ++i)
    if ((set & capability(i)) != 0) text += (text.empty() ? "" : " ") + capability_text(i);
  return text;
}

}  // namespace turnpike
