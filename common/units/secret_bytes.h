// SPDX-License-Identifier: BSD-3-Clause
// A key in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>  // explicit_bzero(), of glibc
#include <span>

namespace turnpike {

/// At most 32 secret bytes. Each object wipes its bytes at its end. Has no text form, so that no
/// message and no file can contain the bytes by accident.
class SecretBytes {
 public:
  static constexpr size_t kMaxSize = 32;

  SecretBytes() = default;
  /// `bytes`: kMaxSize at most.
  explicit SecretBytes(std::span<const uint8_t> bytes) : size_(bytes.size()) {
    std::ranges::copy(bytes, bytes_.begin());
  }
  SecretBytes(const SecretBytes&) = default;
  SecretBytes& operator=(const SecretBytes&) = default;
  ~SecretBytes() { explicit_bzero(bytes_.data(), bytes_.size()); }

  [[nodiscard]] std::span<const uint8_t> bytes() const { return {bytes_.data(), size_}; }
  bool operator==(const SecretBytes&) const = default;

 private:
  std::array<uint8_t, kMaxSize> bytes_{};
  size_t size_ = 0;
};

}  // namespace turnpike
