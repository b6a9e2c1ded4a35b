// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/sandbox/sandbox.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "common/program/sandbox/every_thread.h"
#include "common/program/sandbox/landlock.h"
#include "common/units/instrumented.h"

namespace turnpike {
namespace {

using May = PathRule::May;

/// Why the program cannot be restricted whatever the kernel has; empty: it can.
std::string obstacle() {
  if (kInstrumented) return "sanitizers need what it forbids";
  const char* const preloaded = std::getenv("LD_PRELOAD");
  if (preloaded != nullptr &&
      std::string_view(preloaded).find("vgpreload") != std::string_view::npos)
    return "valgrind needs what it forbids";
  return {};
}

/// The folder of the file, whose rights remain when an editor or a package replaces the file. Of
/// folders that the whole system shares, the file alone.
std::string readable_for(const std::string& file) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(file, error);
  if (error) return file;
  static constexpr std::array<std::string_view, 9> kShared = {
      "/", "/etc", "/home", "/root", "/run", "/srv", "/tmp", "/usr", "/var"};
  const bool shared = std::ranges::find(kShared, path.parent_path().string()) != kShared.end();
  return shared ? path.string() : path.parent_path().string();
}

std::vector<PathRule> rules_of(const SandboxOptions& o) {
  // /proc/self and /sys: memory, CPUs, interfaces and NICs. Time zones: of the log's lines.
  std::vector<PathRule> rules = {
      {"/proc/self", May::kRead},       {"/proc/meminfo", May::kRead},
      {"/proc/cpuinfo", May::kRead},    {"/proc/stat", May::kRead},
      {"/proc/interrupts", May::kRead}, {"/sys", May::kRead},
      {"/etc/localtime", May::kRead},   {"/usr/share/zoneinfo", May::kRead},
      {"/dev/urandom", May::kRead},     {"/dev/null", May::kDevice}};
  if (!o.topology.empty()) rules.push_back({readable_for(o.topology), May::kRead});
  for (const std::string& file : o.readable) rules.push_back({readable_for(file), May::kRead});
  if (o.needs.calls.tap) rules.push_back({"/dev/net/tun", May::kDevice});
  if (o.needs.calls.devices) {
    rules.push_back({"/dev/vfio", May::kDevice});
    rules.push_back({"/dev/infiniband", May::kDevice});
  }
  for (const std::string& folder : o.writable)
    if (!folder.empty()) rules.push_back({folder, May::kWrite});
  return rules;
}

/// Arguments of restrict_thread().
struct Restriction {
  Capabilities keep = 0;
  const Landlock* landlock = nullptr;
};
int restrict_thread(void* argument) {
  const auto& r = *static_cast<const Restriction*>(argument);
  if (const int error = keep_capabilities(r.keep); error != 0) return error;
  return r.landlock != nullptr ? r.landlock->restrict_thread() : 0;
}

/// Appends to a list in words.
void add(std::string& list, const std::string& item) { list += (list.empty() ? "" : "; ") + item; }

}  // namespace

tl::expected<std::string, std::string> enter_sandbox(const SandboxOptions& o) {
  if (o.mode == "off") return std::string("sandbox: off");
  const bool must = o.mode == "on";
  if (const std::string why = obstacle(); !why.empty()) {
    if (must) return tl::unexpected("--sandbox on is impossible: " + why);
    return "sandbox: off, because " + why;
  }
  std::string missing;
  std::optional<Landlock> landlock;
  if (landlock_abi() == 0) {
    add(missing, "Landlock is missing: files are protected by the user's rights alone");
  } else if (auto made = Landlock::make(rules_of(o), o.needs.abstract_sockets); made) {
    landlock.emplace(std::move(*made));
  } else {
    add(missing, made.error());
  }
  Restriction restriction{.keep = o.needs.capabilities,
                          .landlock = landlock ? &*landlock : nullptr};
  if (const auto done = on_every_thread(restrict_thread, &restriction); !done)
    add(missing, "not restricted: " + done.error());
  else if (landlock)
    set_landlock_in_force();
  if (const auto done = filter_syscalls(o.needs.calls); !done) add(missing, done.error());
  if (must && !missing.empty()) return tl::unexpected("--sandbox on is impossible: " + missing);

  std::string line = "sandbox: capabilities " + capabilities_text(effective_capabilities());
  const Privileges now = privileges();
  if (now.filtered) line += ", system calls filtered";
  if (now.landlock > 0) line += ", files by Landlock " + std::to_string(now.landlock);
  return line + (missing.empty() ? "" : " (" + missing + ")");
}

}  // namespace turnpike
