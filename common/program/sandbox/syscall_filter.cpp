// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/sandbox/syscall_filter.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include "common/program/sandbox/syscall_list.h"

namespace turnpike {
namespace {

constexpr size_t kNumbers = 1024;  // of system calls; later ones share the last place
std::array<std::atomic<uint32_t>, kNumbers> refused;

/// SIGSYS instead of a call that the filter refuses: counts it and lets it fail with EPERM.
void on_refusal(int /*signal*/, siginfo_t* info, void* context) {
  const auto number = static_cast<unsigned>(info->si_syscall);
  refused[number < kNumbers ? number : kNumbers - 1].fetch_add(1, std::memory_order_relaxed);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
}

/// The condition that the bits `mask` of an argument are `value`. SCMP_CMP64 is no C++.
scmp_arg_cmp equal(unsigned argument, uint64_t mask, uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

/// libseccomp's filter while it is being built; remembers the first error.
class Builder {
 public:
  Builder() : filter_(seccomp_init(SCMP_ACT_TRAP), seccomp_release) {
    if (filter_ == nullptr) error_ = ENOMEM;
  }

  void allow(const char* name) { add(SCMP_ACT_ALLOW, name, {}); }
  void refuse(const char* name, int error) {
    add(SCMP_ACT_ERRNO(static_cast<uint32_t>(error)), name, {});
  }
  /// Lets the call fail with EPERM if the bit `bit` of the argument is not set.
  void refuse_unless(const char* name, unsigned argument, uint64_t bit) {
    add(SCMP_ACT_ERRNO(EPERM), name, {equal(argument, bit, 0)});
  }
  /// Allows the call if the bits `mask` of argument `argument` are `value`.
  void allow_if(const char* name, unsigned argument, uint64_t mask, uint64_t value) {
    add(SCMP_ACT_ALLOW, name, {equal(argument, mask, value)});
  }
  /// The same for two arguments.
  void allow_if(const char* name, std::array<scmp_arg_cmp, 2> both) {
    note(filter_
             ? seccomp_rule_add_array(filter_.get(), SCMP_ACT_ALLOW, number(name), 2, both.data())
             : 0);
  }
  int load() {
    if (error_ != 0) return error_;
    set(SCMP_FLTATR_CTL_TSYNC, 1);
    set(SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a binary tree instead of a list
    note(seccomp_load(filter_.get()));
    return error_;
  }

 private:
  static int number(const char* name) { return seccomp_syscall_resolve_name(name); }
  void add(uint32_t action, const char* name, std::vector<scmp_arg_cmp> when) {
    const int call = number(name);
    if (error_ != 0 || call == __NR_SCMP_ERROR) return;  // newer than this libseccomp
    note(seccomp_rule_add_array(filter_.get(), action, call, static_cast<unsigned>(when.size()),
                                when.data()));
  }
  void set(scmp_filter_attr attribute, uint32_t value) {
    note(seccomp_attr_set(filter_.get(), attribute, value));
  }
  void note(int result) {
    if (result < 0 && error_ == 0) error_ = -result;
  }

  std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter_;
  int error_ = 0;
};

constexpr uint64_t kInt = 0xffff'ffff;  // an argument that the kernel reads as an int

void allow_sockets(Builder& b, const SyscallNeeds& needs) {
  b.allow_if("socket", 0, kInt, AF_UNIX);
  b.allow_if("socketpair", 0, kInt, AF_UNIX);
  if (needs.netlink) b.allow_if("socket", 0, kInt, AF_NETLINK);
  if (!needs.ioctl_net) return;
  for (const uint64_t family :
       {AF_INET, AF_INET6})  // without flags, the type is in the low four bits
    b.allow_if("socket", {equal(0, kInt, family), equal(1, 0xf, SOCK_DGRAM)});
}

void allow_ioctls(Builder& b, const SyscallNeeds& needs) {
  // Of a terminal only questions: TIOCSTI would type into the shell that started the program.
  for (const uint64_t request : {TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO})
    b.allow_if("ioctl", 1, kInt, request);
  b.allow_if("ioctl", 1, 0xffff'ff00, 0x8900);  // SIOC...: a socket's interface
  if (needs.tap)
    for (const uint64_t kind : {0x4004'5400U, 0x8004'5400U, 0x4010'5400U, 0x8010'5400U})  // TUN...
      b.allow_if("ioctl", 1, 0xffff'ff00, kind);
  if (!needs.devices) return;
  b.allow_if("ioctl", 1, 0xff00, 0x3b00);  // VFIO_...
  b.allow_if("ioctl", 1, 0xff00, 0x1b00);  // RDMA_...
}

/// Memory that can be executed can no longer be made: all libraries are loaded.
void allow_memory(Builder& b) {
  for (const char* name : {"mmap", "mprotect", "pkey_mprotect"}) b.allow_if(name, 2, PROT_EXEC, 0);
}

void allow_threads(Builder& b) {
  b.allow_if("clone", 0, CLONE_THREAD, CLONE_THREAD);
  b.refuse("clone3",
           ENOSYS);  // its flags are in memory, where no filter sees them; libc then calls clone
  // libc starts a process with all signals blocked, when SIGSYS would end this one.
  b.refuse_unless("clone", 0, CLONE_THREAD);
  for (const char* name : {"fork", "vfork"}) b.refuse(name, EPERM);
  b.allow_if("tgkill", 0, kInt, static_cast<uint64_t>(getpid()));
  b.allow_if("prlimit64", 2, UINT64_MAX, 0);  // reads limits, sets none
  for (const uint64_t option :
       {PR_SET_NAME, PR_GET_NAME, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_GET_DUMPABLE,
        PR_GET_SECCOMP, PR_GET_NO_NEW_PRIVS, PR_CAPBSET_READ, PR_SET_VMA})
    b.allow_if("prctl", 0, kInt, option);
}

}  // namespace

tl::expected<void, std::string> filter_syscalls(const SyscallNeeds& needs) {
  struct sigaction action {};
  action.sa_sigaction = on_refusal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);

  Builder b;
  for (const char* name : kHarmlessSyscalls) b.allow(name);
  allow_sockets(b, needs);
  allow_ioctls(b, needs);
  allow_memory(b);
  allow_threads(b);
  if (needs.bpf) b.allow("bpf");
  if (const int error = b.load(); error != 0)
    return tl::unexpected(std::string("seccomp: ") + std::strerror(error));
  return {};
}

uint64_t refused_syscalls() {
  uint64_t sum = 0;
  for (const auto& count : refused) sum += count.load(std::memory_order_relaxed);
  return sum;
}

std::vector<std::string> new_refusals() {
  static std::array<uint32_t, kNumbers> reported;
  std::vector<std::string> lines;
  for (size_t i = 0; i < kNumbers; ++i) {
    const uint32_t count = refused[i].load(std::memory_order_relaxed);
    if (count == reported[i]) continue;
    const std::unique_ptr<char, void (*)(void*)> name(
        seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(i)), std::free);
    lines.push_back((name ? name.get() : "system call " + std::to_string(i)) + " " +
                    std::to_string(count - reported[i]) + " times");
    reported[i] = count;
  }
  return lines;
}

}  // namespace turnpike
