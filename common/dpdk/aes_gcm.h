// SPDX-License-Identifier: BSD-3-Clause
// AES-GCM (NIST SP 800-38D) by DPDK's software driver crypto_aesni_gcm, on the calling thread.
//
// Example:
//
//     #include <array>
//
//     std::array<uint8_t, 32> key{};                    // from a file
//     std::array<uint8_t, AesGcm::kNonceSize> nonce{};  // of no other message
//     std::array<uint8_t, AesGcm::kTagSize> tag{};
//     std::array<uint8_t, 8> aad{};
//     std::array<uint8_t, 100> text{};
//     const std::array keys{std::span<const uint8_t>(key)};
//     const auto cipher = AesGcm::make(keys, aad.size());
//     if (!cipher) return;  // cipher.error() names the package that is missing
//     if (!cipher->seal(0, {text, nonce.data(), aad.data(), tag.data()})) return;
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace turnpike {

/// Some keys. Made, moved and destroyed by control threads, while EAL is up; any thread may seal
/// and open. A thread's first call allocates the driver's state of this thread, later ones do not
/// allocate.
class AesGcm {
 public:
  static constexpr size_t kNonceSize = 12, kTagSize = 16;  // B

  struct Message {
    std::span<uint8_t> text;  // encrypted or decrypted in place
    const uint8_t* nonce;     // kNonceSize B; a key must never seal with one of them twice
    const uint8_t* aad;       // authenticated, not encrypted
    uint8_t* tag;             // kTagSize B: written by seal(), compared by open()
  };

  /// `keys`: of 16 B (AES-128) or 32 B (AES-256). `aad`: B of each message's associated data. The
  /// first call of the process attaches the driver. The error names the missing package or CPU
  /// feature.
  static tl::expected<AesGcm, std::string> make(std::span<const std::span<const uint8_t>> keys,
                                                uint16_t aad);
  AesGcm(AesGcm&&) noexcept;
  AesGcm& operator=(AesGcm&&) noexcept;
  ~AesGcm();

  /// Encrypts and authenticates by keys[key]. False: the driver has no memory for this thread; the
  /// text is as it was.
  [[nodiscard]] bool seal(size_t key, const Message& message) const;
  /// Decrypts and verifies. False: the tag is wrong, and the text is undefined.
  [[nodiscard]] bool open(size_t key, const Message& message) const;

 private:
  struct Sessions;  // DPDK's, with their pool
  AesGcm(uint8_t device, std::unique_ptr<Sessions> sessions);
  [[nodiscard]] bool process(void* session, const Message& message) const;

  uint8_t device_;
  std::unique_ptr<Sessions> sessions_;
};

}  // namespace turnpike
