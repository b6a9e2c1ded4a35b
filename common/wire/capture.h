// SPDX-License-Identifier: BSD-3-Clause
// Capture files (classic pcap) of whole frames, for tests and tools.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

namespace turnpike::wire {

/// Writes Ethernet frames, one second apart, in this machine's byte order as the format allows.
class Capture {
 public:
  explicit Capture(const std::string& path) : out_(path, std::ios::binary) {
    constexpr uint32_t kMagic = 0xa1b2c3d4, kVersion = 2 | 4 << 16, kEthernet = 1;
    for (const uint32_t word : {kMagic, kVersion, 0U, 0U, kSnapLength, kEthernet}) put(word);
  }

  void add(std::span<const uint8_t> frame) {
    const auto length = static_cast<uint32_t>(frame.size());
    for (const uint32_t word : {frames_++, 0U, length, length}) put(word);
    out_.write(reinterpret_cast<const char*>(frame.data()),
               static_cast<std::streamsize>(frame.size()));
  }

  /// Whether all frames so far are in the file.
  [[nodiscard]] bool good() {
    out_.flush();
    return out_.good();
  }

 private:
  static constexpr uint32_t kSnapLength = 65535;  // B, the longest frame

  void put(uint32_t v) { out_.write(reinterpret_cast<const char*>(&v), sizeof v); }

  std::ofstream out_;
  uint32_t frames_ = 0;
};

}  // namespace turnpike::wire
