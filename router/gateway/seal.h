// SPDX-License-Identifier: BSD-3-Clause
// Encryption and authentication of what tunnels carry, and of the answers to it, by AES-GCM with
// the keys of each peer.
//
// The sealed payload (docs/wire-format.md):
//
//     key id (4 B) | nonce (12 B) | datagrams, encrypted | tag (16 B)
//
// The tag also covers the addresses, the ports, the common header and the whole sequence number,
// which no router rewrites. It does not cover what routers do rewrite: TTL, DSCP, ECN and the
// congestion header.
//
// An answer has the same payload, without datagrams. Its tag covers all Turnpike headers: no router
// rewrites the congestion header of an answer, which is the price that the sender pays.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/dpdk/aes_gcm.h"
#include "common/wire/frame_builder.h"
#include "common/wire/turnpike_header.h"
#include "sender/transmission/datagram_source.h"

namespace turnpike::gateway {

/// The keys of a gateway's peers, ready for use. Immutable.
class KeyRing {
 public:
  /// The keys in `wanted` of each peer of `own`, in its order. The error says which file or package
  /// is missing, without a key.
  static tl::expected<std::unique_ptr<KeyRing>, std::string> make(const config::Gateway& own,
                                                                  const config::Gateway& wanted);

  /// The key that seals packets to a peer, and its id.
  [[nodiscard]] size_t sealing(size_t peer) const { return first_[peer]; }
  [[nodiscard]] uint32_t id(size_t key) const { return ids_[key]; }
  /// The peer's key of this id; none: unknown.
  [[nodiscard]] std::optional<size_t> find(size_t peer, uint32_t id) const {
    for (size_t k = first_[peer]; k < first_[peer + 1]; ++k)
      if (ids_[k] == id) return k;
    return {};
  }
  [[nodiscard]] const AesGcm& cipher() const { return cipher_; }
  /// The same keys, for answers.
  [[nodiscard]] const AesGcm& answers() const { return answers_; }

 private:
  KeyRing(AesGcm cipher, AesGcm answers)
      : cipher_(std::move(cipher)), answers_(std::move(answers)) {}

  AesGcm cipher_, answers_;
  std::vector<uint32_t> ids_;  // by key
  std::vector<size_t> first_;  // by peer, its first key; at the end the number of keys
};

/// Used by one lcore.
class Seal {
 public:
  static constexpr size_t kKeyIdSize = 4;
  static constexpr size_t kFront = kKeyIdSize + AesGcm::kNonceSize;  // B before the datagrams
  static constexpr size_t kOverhead = kFront + AesGcm::kTagSize;     // B that a packet grows by
  static constexpr size_t kAadSize = 64;
  static constexpr size_t kMaxAnswer = 128;  // B of an answer's Turnpike headers
  static constexpr size_t kAnswerAadSize = kAadSize + kMaxAnswer - wire::kHeaderSize;
  /// Of the first byte of each sealed payload, and of no IP datagram.
  static constexpr uint8_t kMark = 0x80;

  /// `peers`: headers of the packets to each peer. `start`: a number that no other gateway with one
  /// of the keys begins its nonces with, and this one not after a restart: random.
  Seal(std::unique_ptr<KeyRing> keys, std::span<const wire::FrameSpec> peers, uint64_t start);

  /// Seals a payload to a peer, whose first kFront and last kTagSize bytes are room. False: it
  /// could not be, and must not be sent.
  [[nodiscard]] bool seal(size_t peer, std::span<uint8_t> payload,
                          const sender::DatagramSource::Headers& headers);

  enum class Opened : uint8_t {
    kAuthentic,
    kUnsealed,    // too short, or no sealed payload
    kUnknownKey,  // the peer has no key of its id
    kForged,      // wrong tag: the payload is undefined
  };
  /// Opens a payload from a peer in place.
  [[nodiscard]] Opened open(size_t peer, std::span<uint8_t> payload,
                            const sender::DatagramSource::Headers& headers);

  /// An answer's Turnpike headers, at most kMaxAnswer B, and the port of the flow that it answers.
  struct Answer {
    std::span<const uint8_t> headers;
    uint16_t port = 0;
  };
  /// Fills in the payload, of kOverhead B, of an answer to a peer. False: it could not be
  /// authenticated, and must not be sent.
  [[nodiscard]] bool seal(size_t peer, std::span<uint8_t> payload, const Answer& answer);
  /// Verifies the payload of an answer from a peer.
  [[nodiscard]] Opened open(size_t peer, std::span<uint8_t> payload, const Answer& answer) const;

  /// Exchanges the keys. Packets that are on their way open if their key is in the new ones.
  void exchange(std::unique_ptr<KeyRing>& keys) { keys_.swap(keys); }

 private:
  using Aad = std::array<uint8_t, kAadSize>;
  using Addresses = std::array<uint8_t, 2 * sizeof(wire::Ipv6Address)>;  // source, destination
  struct Ends {
    Addresses out{}, in{};
    uint16_t port = 0;  // UDP destination port of both directions
  };
  using AnswerAad = std::array<uint8_t, kAnswerAadSize>;
  static void write_aad(std::span<uint8_t, kAadSize> aad, const Addresses& addresses,
                        uint16_t destination_port, const sender::DatagramSource::Headers& headers);
  /// `port`: to which packets go, the source port of their answers.
  static void write_aad(AnswerAad& aad, const Addresses& addresses, uint16_t port,
                        const Answer& answer);
  void write_front(std::span<uint8_t> payload, size_t key);

  std::unique_ptr<KeyRing> keys_;
  std::vector<Ends> ends_;  // by peer
  uint64_t prefix_;         // of the next nonce: its first 8 B
  uint32_t count_ = 0;      // the rest
};

}  // namespace turnpike::gateway
