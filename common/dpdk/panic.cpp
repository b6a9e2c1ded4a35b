// SPDX-License-Identifier: BSD-3-Clause
// rte_eal_init() panics if it cannot create an lcore's thread, although that is a shortage like
// others for which it returns an error. This function replaces DPDK's own in the whole program.
#include "common/dpdk/panic.h"

#include <array>
#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include <rte_debug.h>

namespace {

thread_local std::jmp_buf* landing = nullptr;
thread_local std::array<char, 256> said;

}  // namespace

extern "C" void __rte_panic(const char* funcname, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(said.data(), said.size(), format, arguments);
  va_end(arguments);
  if (landing != nullptr) std::longjmp(*landing, 1);
  std::fprintf(stderr, "PANIC in %s(): %s", funcname, said.data());
  rte_dump_stack();
  std::abort();
}

namespace turnpike {

std::string panic_in(void (*run)(void* argument), void* argument) {
  std::jmp_buf here;
  if (setjmp(here) == 0) {
    landing = &here;
    run(argument);
    landing = nullptr;
    return {};
  }
  landing = nullptr;
  std::string text = said.data();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "it panicked" : text;
}

}  // namespace turnpike
