// SPDX-License-Identifier: BSD-3-Clause
// The Turnpike header: the first bytes after UDP in every Turnpike packet (docs/wire-format.md).
//
// Example:
//
//     uint8_t bytes[kHeaderSize];
//     const Header syn{.kind = Kind::kSyn, .length = header_length(0, 0), .flow = 7};
//     const uint64_t sum = encode(syn, bytes);  // for the UDP checksum
//     Header header;
//     const HeaderError error = decode(bytes, header);  // kNone: accept it
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/units/units.h"
#include "common/wire/bytes.h"

namespace turnpike::wire {

inline constexpr uint16_t kDefaultUdpPort = 4747;
inline constexpr uint8_t kVersion = 1;
inline constexpr size_t kHeaderSize = 24;  // the common part; the congestion header follows
inline constexpr size_t kMaxRanges = 8;
inline constexpr size_t kRangeSize = 8;
inline constexpr size_t kLengthUnit = 4;  // B; lengths are sent in units of this, in one byte
inline constexpr size_t kMaxHeaderLength = 255 * kLengthUnit;

enum class Kind : uint8_t { kSyn = 1, kSynAck, kData, kAck, kFin, kFinAck, kReset };
/// SYN, DATA and FIN; the other kinds are their answers.
constexpr bool is_request(Kind kind) {
  return kind == Kind::kSyn || kind == Kind::kData || kind == Kind::kFin;
}

/// The common header, decoded. Sequence numbers count packets. An ACK carries the sequence of the
/// packet that it answers, the next one expected in order, and ranges received beyond that.
struct Header {
  Kind kind = Kind::kData;
  uint8_t protocol = 0;
  uint8_t ranges = 0;   // number of SeqRange after the congestion header
  uint16_t length = 0;  // B from the first byte of this header to the payload, a multiple of 4
  uint32_t flow = 0;
  uint32_t sequence = 0;
  uint32_t acknowledgement = 0;
  uint32_t timestamp = 0;  // of a request: sending time, in ticks of 64 ns of the sender's clock
  uint32_t echo = 0;       // of an answer: the request's timestamp
  uint32_t token = 0;      // of the flow, issued by the receiver in its SYN-ACK; 0 on SYN
};

/// Packets received beyond the cumulative acknowledgement: [begin, end).
struct SeqRange {
  uint32_t begin = 0, end = 0;
};

enum class HeaderError : uint8_t { kNone, kTruncated, kVersion, kKind, kLength };

// Offsets; the first four bytes describe the rest.
inline constexpr size_t kVersionKindAt = 0;  // version in the high half, kind in the low half
inline constexpr size_t kProtocolAt = 1;
inline constexpr size_t kRangesAt = 2;
inline constexpr size_t kLengthAt = 3;  // in units of kLengthUnit
inline constexpr size_t kFlowAt = 4;
inline constexpr size_t kSequenceAt = 8;
inline constexpr size_t kAcknowledgementAt = 12;
inline constexpr size_t kTimestampAt = 16;  // of a request; an answer has its token here
inline constexpr size_t kEchoAt = 20;       // of an answer; a request has its token here
static_assert(kEchoAt + 4 == kHeaderSize);

/// Decodes and checks only kind, protocol, ranges and length, which suffice for a router; otherwise
/// like decode().
inline HeaderError decode_shape(std::span<const uint8_t> data, Header& out) {
  const uint8_t* p = data.data();
  // Checks the version first: the rest of another version's header has another format.
  if (data.empty()) return HeaderError::kTruncated;
  if (p[kVersionKindAt] >> 4 != kVersion) return HeaderError::kVersion;
  if (data.size() < kHeaderSize) return HeaderError::kTruncated;
  const uint8_t kind = p[kVersionKindAt] & 0x0f;
  if (kind < static_cast<uint8_t>(Kind::kSyn) || kind > static_cast<uint8_t>(Kind::kReset))
    return HeaderError::kKind;
  out.kind = static_cast<Kind>(kind);
  out.protocol = p[kProtocolAt];
  out.ranges = p[kRangesAt];
  out.length = static_cast<uint16_t>(p[kLengthAt] * kLengthUnit);
  if (out.ranges > kMaxRanges || out.length < kHeaderSize + out.ranges * kRangeSize)
    return HeaderError::kLength;
  return out.length > data.size() ? HeaderError::kTruncated : HeaderError::kNone;
}

/// Decodes and checks the common header: version, kind, and that `length` covers the header and the
/// ranges and lies within `data` (the UDP payload). Never reads beyond `data`; on error `out` is
/// unspecified.
inline HeaderError decode(std::span<const uint8_t> data, Header& out) {
  const HeaderError error = decode_shape(data, out);
  if (error != HeaderError::kNone) return error;
  const uint8_t* p = data.data();
  out.flow = load_be32(p + kFlowAt);
  out.sequence = load_be32(p + kSequenceAt);
  out.acknowledgement = load_be32(p + kAcknowledgementAt);
  const bool request = is_request(out.kind);
  const uint32_t first = load_be32(p + kTimestampAt), second = load_be32(p + kEchoAt);
  out.timestamp = request ? first : 0;
  out.echo = request ? 0 : second;
  out.token = request ? second : first;
  return HeaderError::kNone;
}

/// Writes the common header (kHeaderSize bytes). `length` must come from header_length(). Returns
/// the sum of its 16-bit words for the UDP checksum, not folded.
inline uint64_t encode(const Header& header, uint8_t* out) {
  static_assert(kVersionKindAt == 0 && kProtocolAt == 1 && kRangesAt == 2 && kLengthAt == 3);
  const auto kind = static_cast<uint32_t>(kVersion << 4 | static_cast<uint8_t>(header.kind));
  const uint32_t first = kind << 24 | uint32_t{header.protocol} << 16 |
                         uint32_t{header.ranges} << 8 | header.length / kLengthUnit;
  store_be32(out, first);
  store_be32(out + kFlowAt, header.flow);
  store_be32(out + kSequenceAt, header.sequence);
  store_be32(out + kAcknowledgementAt, header.acknowledgement);
  const bool request = is_request(header.kind);
  const uint32_t fifth = request ? header.timestamp : header.token,
                 sixth = request ? header.token : header.echo;
  store_be32(out + kTimestampAt, fifth);
  store_be32(out + kEchoAt, sixth);
  // A 32-bit word counts as its two halves: fold() gives the same.
  return uint64_t{first} + header.flow + header.sequence + header.acknowledgement + fifth + sixth;
}

/// Offset of the i-th range. Ranges come last before the payload, so that their position does not
/// depend on the protocol.
inline size_t range_at(const Header& header, size_t i) {
  return header.length - (header.ranges - i) * kRangeSize;
}
/// The i-th acknowledged range of a header that decode() accepted; i < header.ranges.
inline SeqRange load_range(const Header& header, const uint8_t* data, size_t i) {
  const uint8_t* p = data + range_at(header, i);
  return {.begin = load_be32(p), .end = load_be32(p + 4)};
}
/// Writes the i-th range; header.length must cover it.
inline void store_range(const Header& header, uint8_t* data, size_t i, SeqRange range) {
  uint8_t* p = data + range_at(header, i);
  store_be32(p, range.begin);
  store_be32(p + 4, range.end);
}

/// B of a header with a congestion header of `congestion` bytes (a multiple of 4) and `ranges`
/// ranges; at most kMaxHeaderLength.
constexpr uint16_t header_length(size_t congestion, size_t ranges) {
  return static_cast<uint16_t>(kHeaderSize + congestion + ranges * kRangeSize);
}

/// Ticks of 64 ns that wrap every 275 s: finer than a round trip of 10 us, longer than any.
constexpr uint32_t to_ticks(Nanos t) { return static_cast<uint32_t>(t.count() >> 6); }
/// The time from `earlier` to `later`, both in ticks, less than 137 s apart.
constexpr Nanos ticks_between(uint32_t earlier, uint32_t later) {
  return Nanos(static_cast<int64_t>(static_cast<int32_t>(later - earlier)) * 64);
}

std::string_view kind_name(Kind kind);
std::string_view error_name(HeaderError error);

}  // namespace turnpike::wire
