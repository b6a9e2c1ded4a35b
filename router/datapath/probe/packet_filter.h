// SPDX-License-Identifier: BSD-3-Clause
// A filter of packets: a program of the classic Berkeley Packet Filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <pcap/bpf.h>
#include <tl/expected.hpp>

namespace turnpike::router {

/// Run by libpcap's interpreter. The language has forward jumps only, so that a packet takes at
/// most size() instructions, and every load is checked against the bytes given. DPDK's rte_bpf
/// would translate the program to machine code: an experimental call, and memory that is first
/// written, then executed, which a sandboxed service forbids itself.
class PacketFilter {
 public:
  /// Instructions of the longest program: what `turnpike` compiles has a few dozen.
  static constexpr size_t kMaxSize = 512;

  /// Matches every packet.
  PacketFilter() = default;
  /// The program of an untrusted peer. The error: it is too long, jumps past its end, divides by
  /// zero or does not end.
  static tl::expected<PacketFilter, std::string> make(std::vector<bpf_insn> program);

  /// Instructions; 0: matches every packet.
  [[nodiscard]] size_t size() const { return program_.size(); }
  /// Whether a frame of `length` B matches, of which the first `present` B are at `bytes`. A load
  /// beyond them does not match.
  [[nodiscard]] bool matches(const uint8_t* bytes, uint32_t present, uint32_t length) const {
    return program_.empty() || bpf_filter(program_.data(), bytes, length, present) != 0;
  }

 private:
  std::vector<bpf_insn> program_;
};

}  // namespace turnpike::router
