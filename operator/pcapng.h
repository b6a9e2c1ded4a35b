// SPDX-License-Identifier: BSD-3-Clause
// Writes capture files in the pcapng format (draft-ietf-opsawg-pcapng).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace turnpike::ops {

/// Makes the blocks of a file with one section; `out` takes their bytes. Ethernet, time in ns.
class Pcapng {
 public:
  enum class Direction : uint8_t { kUnknown, kReceived, kSent };  // as in epb_flags
  using Out = std::function<void(std::string_view bytes)>;

  /// Writes the section header. `application`: name and version of the program.
  Pcapng(Out out, std::string_view application);

  /// Describes the next interface; their numbers begin with 0. All come before the packets.
  void add_interface(std::string_view name, std::string_view description, uint64_t rate_bps,
                     uint32_t snap);

  struct Packet {
    uint32_t interface = 0;
    uint64_t time_ns = 0;  // since 1970
    uint32_t length = 0;   // B of the frame
    std::span<const uint8_t> bytes;
    Direction direction = Direction::kUnknown;
    std::string_view comment = {};  // empty: none
  };
  void add(const Packet& packet);

  /// At the end, for each interface: packets in the file, and those that are missing.
  void add_statistics(uint32_t interface, uint64_t time_ns, uint64_t received, uint64_t dropped,
                      std::string_view comment);

 private:
  void block(uint32_t type, const std::string& body);

  Out out_;
};

}  // namespace turnpike::ops
