// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/probe/packet_filter.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace turnpike::router {
namespace {

// All instructions that the interpreter knows. bpf_validate() lets others pass, at which
// bpf_filter() aborts the program.
// NOLINTBEGIN(misc-redundant-expression): some of the names are 0
constexpr std::array<uint16_t, 47> kCodes{BPF_LD | BPF_W | BPF_ABS,
                                          BPF_LD | BPF_H | BPF_ABS,
                                          BPF_LD | BPF_B | BPF_ABS,
                                          BPF_LD | BPF_W | BPF_IND,
                                          BPF_LD | BPF_H | BPF_IND,
                                          BPF_LD | BPF_B | BPF_IND,
                                          BPF_LD | BPF_IMM,
                                          BPF_LD | BPF_MEM,
                                          BPF_LD | BPF_W | BPF_LEN,
                                          BPF_LDX | BPF_IMM,
                                          BPF_LDX | BPF_MEM,
                                          BPF_LDX | BPF_W | BPF_LEN,
                                          BPF_LDX | BPF_MSH | BPF_B,
                                          BPF_ST,
                                          BPF_STX,
                                          BPF_ALU | BPF_ADD | BPF_K,
                                          BPF_ALU | BPF_SUB | BPF_K,
                                          BPF_ALU | BPF_MUL | BPF_K,
                                          BPF_ALU | BPF_DIV | BPF_K,
                                          BPF_ALU | BPF_MOD | BPF_K,
                                          BPF_ALU | BPF_AND | BPF_K,
                                          BPF_ALU | BPF_OR | BPF_K,
                                          BPF_ALU | BPF_XOR | BPF_K,
                                          BPF_ALU | BPF_LSH | BPF_K,
                                          BPF_ALU | BPF_RSH | BPF_K,
                                          BPF_ALU | BPF_ADD | BPF_X,
                                          BPF_ALU | BPF_SUB | BPF_X,
                                          BPF_ALU | BPF_MUL | BPF_X,
                                          BPF_ALU | BPF_DIV | BPF_X,
                                          BPF_ALU | BPF_MOD | BPF_X,
                                          BPF_ALU | BPF_AND | BPF_X,
                                          BPF_ALU | BPF_OR | BPF_X,
                                          BPF_ALU | BPF_XOR | BPF_X,
                                          BPF_ALU | BPF_LSH | BPF_X,
                                          BPF_ALU | BPF_RSH | BPF_X,
                                          BPF_ALU | BPF_NEG,
                                          BPF_JMP | BPF_JA,
                                          BPF_JMP | BPF_JGT | BPF_K,
                                          BPF_JMP | BPF_JGE | BPF_K,
                                          BPF_JMP | BPF_JEQ | BPF_K,
                                          BPF_JMP | BPF_JSET | BPF_K,
                                          BPF_JMP | BPF_JGT | BPF_X,
                                          BPF_JMP | BPF_JGE | BPF_X,
                                          BPF_JMP | BPF_JEQ | BPF_X,
                                          BPF_JMP | BPF_JSET | BPF_X,
                                          BPF_RET | BPF_K,
                                          BPF_RET | BPF_A};
// NOLINTEND(misc-redundant-expression)
constexpr std::array<uint16_t, 2> kMoves{BPF_MISC | BPF_TAX, BPF_MISC | BPF_TXA};

/// Whether the interpreter knows the instruction and it only jumps ahead: bpf_validate() lets
/// BPF_JA jump back, which would not end.
bool known(const bpf_insn& step) {
  if (step.code == (BPF_JMP | BPF_JA) && step.k > PacketFilter::kMaxSize) return false;
  return std::ranges::find(kCodes, step.code) != kCodes.end() ||
         std::ranges::find(kMoves, step.code) != kMoves.end();
}

}  // namespace

tl::expected<PacketFilter, std::string> PacketFilter::make(std::vector<bpf_insn> program) {
  if (program.size() > kMaxSize)
    return tl::unexpected("the filter has " + std::to_string(program.size()) +
                          " instructions, more than " + std::to_string(kMaxSize) +
                          ": name fewer hosts or ports");
  if (!std::ranges::all_of(program, known) ||
      (!program.empty() && bpf_validate(program.data(), static_cast<int>(program.size())) == 0))
    return tl::unexpected(std::string("the filter is no valid BPF program"));
  PacketFilter filter;
  filter.program_ = std::move(program);
  return filter;
}

}  // namespace turnpike::router
