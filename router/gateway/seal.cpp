// SPDX-License-Identifier: BSD-3-Clause
// A nonce is a count of 96 bits. Its upper 64 are random at the start, so that gateways with a
// common key, and a gateway before and after a restart, count through different numbers.
#include "router/gateway/seal.h"

#include <algorithm>
#include <cstring>

#include "common/wire/bytes.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::gateway {
namespace {

// Offsets in the associated data.
constexpr size_t kHighSequenceAt = 0, kPortsAt = 4, kCommonAt = 8, kAddressesAt = 32;
static_assert(kCommonAt + wire::kHeaderSize == kAddressesAt);

/// Nonces have a zero there, except that of key ids.
constexpr uint64_t kTopBit = uint64_t{1} << 63;

/// The beginning of the tag of an empty text. Its nonce seals nothing else, and the tag does not
/// reveal the key.
std::optional<uint32_t> id_of(const AesGcm& cipher, size_t key) {
  std::array<uint8_t, AesGcm::kNonceSize> nonce;
  nonce.fill(0xff);
  const std::array<uint8_t, Seal::kAadSize> aad{};
  std::array<uint8_t, AesGcm::kTagSize> tag{};
  if (!cipher.seal(key, {.text = {}, .nonce = nonce.data(), .aad = aad.data(), .tag = tag.data()}))
    return {};
  return wire::load_be32(tag.data()) | uint32_t{Seal::kMark} << 24;
}

}  // namespace

tl::expected<std::unique_ptr<KeyRing>, std::string> KeyRing::make(const config::Gateway& own,
                                                                  const config::Gateway& wanted) {
  const config::GatewaySecurity security =
      wanted.security.value_or(config::GatewaySecurity{.key_file = "security"});
  if (!security.unread.empty())
    return tl::unexpected("the key file '" + security.key_file +
                          "' cannot be read: " + security.unread);
  std::vector<std::span<const uint8_t>> keys;
  std::vector<size_t> first{0};
  for (const config::GatewayPeer& peer : own.peers) {
    const auto at = std::ranges::find(wanted.peers, peer.name, &config::GatewayPeer::name);
    if (at == wanted.peers.end() || at->keys.empty())
      return tl::unexpected("'" + security.key_file + "' has no key of peer '" + peer.name + "'");
    for (const SecretBytes& key : at->keys) keys.push_back(key.bytes());
    first.push_back(keys.size());
  }
  auto cipher = AesGcm::make(keys, Seal::kAadSize);
  if (!cipher) return tl::unexpected(cipher.error());
  auto answers = AesGcm::make(keys, Seal::kAnswerAadSize);
  if (!answers) return tl::unexpected(answers.error());
  std::unique_ptr<KeyRing> ring(new KeyRing(std::move(*cipher), std::move(*answers)));
  ring->first_ = std::move(first);
  for (size_t peer = 0; peer < own.peers.size(); ++peer)
    for (size_t key = ring->first_[peer]; key < ring->first_[peer + 1]; ++key) {
      const auto id = id_of(ring->cipher_, key);
      if (!id) return tl::unexpected(std::string("no memory for AES-GCM"));
      const auto before = std::span(ring->ids_).subspan(ring->first_[peer]);
      if (std::ranges::find(before, *id) != before.end())
        return tl::unexpected("'" + security.key_file + "': two keys of peer '" +
                              own.peers[peer].name + "' have the same id: replace one of them");
      ring->ids_.push_back(*id);
    }
  return ring;
}

Seal::Seal(std::unique_ptr<KeyRing> keys, std::span<const wire::FrameSpec> peers, uint64_t start)
    : keys_(std::move(keys)), prefix_(start & ~kTopBit) {
  constexpr size_t kSize = sizeof(wire::Ipv6Address);
  const auto set = [](Ends& ends, const uint8_t* own, const uint8_t* other, size_t size) {
    std::copy_n(own, size, ends.out.begin());
    std::copy_n(other, size, ends.out.begin() + kSize);
    std::copy_n(other, size, ends.in.begin());
    std::copy_n(own, size, ends.in.begin() + kSize);
  };
  for (const wire::FrameSpec& peer : peers) {
    Ends& ends = ends_.emplace_back();
    ends.port = peer.destination_port;
    if (const auto* v4 = std::get_if<wire::Ipv4Pair>(&peer.addresses)) {
      std::array<uint8_t, 4> own, other;
      wire::store_be32(own.data(), v4->source);
      wire::store_be32(other.data(), v4->destination);
      set(ends, own.data(), other.data(), own.size());
    } else {
      const auto& v6 = std::get<wire::Ipv6Pair>(peer.addresses);
      set(ends, v6.source.data(), v6.destination.data(), kSize);
    }
  }
}

void Seal::write_aad(std::span<uint8_t, kAadSize> aad, const Addresses& addresses,
                     uint16_t destination_port, const sender::DatagramSource::Headers& headers) {
  wire::store_be32(&aad[kHighSequenceAt], static_cast<uint32_t>(headers.sequence >> 32));
  wire::store_be16(&aad[kPortsAt], headers.source_port);
  wire::store_be16(&aad[kPortsAt + 2], destination_port);
  std::memcpy(&aad[kCommonAt], headers.common, wire::kHeaderSize);
  std::memcpy(&aad[kAddressesAt], addresses.data(), addresses.size());
}

// An answer that is not of a packet in flight changes nothing, so that the lower half of its
// sequence number is enough.
void Seal::write_aad(AnswerAad& aad, const Addresses& addresses, uint16_t port,
                     const Answer& answer) {
  aad = {};
  write_aad(std::span(aad).first<kAadSize>(), addresses, answer.port,
            {.common = answer.headers.data(), .sequence = 0, .source_port = port});
  const auto behind = answer.headers.subspan(wire::kHeaderSize);
  std::copy(behind.begin(), behind.end(), aad.begin() + kAadSize);
}

void Seal::write_front(std::span<uint8_t> payload, size_t key) {
  uint8_t* const nonce = payload.data() + kKeyIdSize;
  wire::store_be32(payload.data(), keys_->id(key));
  wire::store_be64(nonce, prefix_);
  wire::store_be32(nonce + sizeof prefix_, count_);
  if (++count_ == 0) prefix_ = (prefix_ + 1) & ~kTopBit;
}

bool Seal::seal(size_t peer, std::span<uint8_t> payload,
                const sender::DatagramSource::Headers& headers) {
  const size_t key = keys_->sealing(peer);
  write_front(payload, key);
  Aad aad;
  write_aad(aad, ends_[peer].out, ends_[peer].port, headers);
  return keys_->cipher().seal(key, {.text = payload.subspan(kFront, payload.size() - kOverhead),
                                    .nonce = payload.data() + kKeyIdSize,
                                    .aad = aad.data(),
                                    .tag = &payload[payload.size() - AesGcm::kTagSize]});
}

bool Seal::seal(size_t peer, std::span<uint8_t> payload, const Answer& answer) {
  if (answer.headers.size() > kMaxAnswer) return false;
  const size_t key = keys_->sealing(peer);
  write_front(payload, key);
  AnswerAad aad;
  write_aad(aad, ends_[peer].out, ends_[peer].port, answer);
  return keys_->answers().seal(key, {.text = {},
                                     .nonce = payload.data() + kKeyIdSize,
                                     .aad = aad.data(),
                                     .tag = payload.data() + kFront});
}

Seal::Opened Seal::open(size_t peer, std::span<uint8_t> payload, const Answer& answer) const {
  if (payload.size() != kOverhead || (payload[0] & kMark) == 0 ||
      answer.headers.size() > kMaxAnswer)
    return Opened::kUnsealed;
  const auto key = keys_->find(peer, wire::load_be32(payload.data()));
  if (!key) return Opened::kUnknownKey;
  AnswerAad aad;
  write_aad(aad, ends_[peer].in, ends_[peer].port, answer);
  const bool authentic = keys_->answers().open(*key, {.text = {},
                                                      .nonce = payload.data() + kKeyIdSize,
                                                      .aad = aad.data(),
                                                      .tag = payload.data() + kFront});
  return authentic ? Opened::kAuthentic : Opened::kForged;
}

Seal::Opened Seal::open(size_t peer, std::span<uint8_t> payload,
                        const sender::DatagramSource::Headers& headers) {
  if (payload.size() <= kOverhead || (payload[0] & kMark) == 0) return Opened::kUnsealed;
  const auto key = keys_->find(peer, wire::load_be32(payload.data()));
  if (!key) return Opened::kUnknownKey;
  Aad aad;
  write_aad(aad, ends_[peer].in, ends_[peer].port, headers);
  const bool authentic =
      keys_->cipher().open(*key, {.text = payload.subspan(kFront, payload.size() - kOverhead),
                                  .nonce = payload.data() + kKeyIdSize,
                                  .aad = aad.data(),
                                  .tag = &payload[payload.size() - AesGcm::kTagSize]});
  return authentic ? Opened::kAuthentic : Opened::kForged;
}

}  // namespace turnpike::gateway
