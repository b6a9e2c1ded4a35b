// SPDX-License-Identifier: BSD-3-Clause
// Codec of the Turnpike header; the byte diagram is in docs/wire-format.md.
#include "common/wire/turnpike_header.h"

#include "common/wire/bytes.h"

namespace turnpike::wire {

namespace {

// Offsets behind the first word.
constexpr size_t kSequenceAt = 8;
constexpr size_t kAcknowledgementAt = 12;
constexpr size_t kTimestampAt = 16;
constexpr size_t kEchoAt = 20;
static_assert(kEchoAt + 4 == kHeaderSize);

// Ranges are the last thing before the payload, so finding them takes no knowledge of the protocol.
size_t range_at(const Header& header, size_t i) {
  return header.length - (header.ranges - i) * kRangeSize;
}

}  // namespace

HeaderError decode(std::span<const uint8_t> data, Header& out) {
  const HeaderError error = decode_shape(data, out);
  if (error != HeaderError::kNone) return error;
  const uint8_t* p = data.data();
  out.flow = load_be32(p + kFlowAt);
  out.sequence = load_be32(p + kSequenceAt);
  out.acknowledgement = load_be32(p + kAcknowledgementAt);
  out.timestamp = load_be32(p + kTimestampAt);
  out.echo = load_be32(p + kEchoAt);
  return HeaderError::kNone;
}

uint64_t encode(const Header& header, uint8_t* out) {
  static_assert(kVersionKindAt == 0 && kProtocolAt == 1 && kRangesAt == 2 && kLengthAt == 3);
  const auto kind = static_cast<uint32_t>(kVersion << 4 | static_cast<uint8_t>(header.kind));
  const uint32_t first = kind << 24 | uint32_t{header.protocol} << 16 |
                         uint32_t{header.ranges} << 8 | header.length / kLengthUnit;
  store_be32(out, first);
  store_be32(out + kFlowAt, header.flow);
  store_be32(out + kSequenceAt, header.sequence);
  store_be32(out + kAcknowledgementAt, header.acknowledgement);
  store_be32(out + kTimestampAt, header.timestamp);
  store_be32(out + kEchoAt, header.echo);
  // A 32-bit word counts as its two halves: fold() makes no difference between them.
  return uint64_t{first} + header.flow + header.sequence + header.acknowledgement +
         header.timestamp + header.echo;
}

SeqRange load_range(const Header& header, const uint8_t* data, size_t i) {
  const uint8_t* p = data + range_at(header, i);
  return {.begin = load_be32(p), .end = load_be32(p + 4)};
}

void store_range(const Header& header, uint8_t* data, size_t i, SeqRange range) {
  uint8_t* p = data + range_at(header, i);
  store_be32(p, range.begin);
  store_be32(p + 4, range.end);
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kSyn:
      return "SYN";
    case Kind::kSynAck:
      return "SYN-ACK";
    case Kind::kData:
      return "DATA";
    case Kind::kAck:
      return "ACK";
    case Kind::kFin:
      return "FIN";
    case Kind::kFinAck:
      return "FIN-ACK";
    case Kind::kReset:
      return "RESET";
  }
  return "unknown";
}

std::string_view error_name(HeaderError error) {
  switch (error) {
    case HeaderError::kNone:
      return "none";
    case HeaderError::kTruncated:
      return "truncated";
    case HeaderError::kVersion:
      return "version";
    case HeaderError::kKind:
      return "kind";
    case HeaderError::kLength:
      return "length";
  }
  return "unknown";
}

}  // namespace turnpike::wire
