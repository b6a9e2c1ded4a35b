// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/ingress/parse_eight.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include <immintrin.h>

namespace turnpike::router {

namespace {

// Functions with vectors all have the target: GCC inlines none into a function for another target,
// and would lower the vectors of one without it to narrower ones first.
#define TURNPIKE_AVX512 "avx512f,avx512bw,avx512dq,avx512vl"
#define TURNPIKE_VECTORS [[gnu::target(TURNPIKE_AVX512), gnu::always_inline]]

constexpr unsigned kEight = 8;
constexpr uint32_t kAll = 0xff;  // of eight packets

// A word of 64 bits, or its halves or octets, for each of eight packets; words read from packets
// are in host order.
using Words = uint64_t __attribute__((vector_size(64)));
using Halves = uint32_t __attribute__((vector_size(64)));
using Octets = uint8_t __attribute__((vector_size(64)));
using Narrow = uint32_t __attribute__((vector_size(32)));
using OnePacket = uint64_t __attribute__((vector_size(16)));

using Places = std::array<const uint8_t*, kEight>;

// Sixteen bytes of each packet, in two words.
struct Sixteen {
  Words first, second;
};

TURNPIKE_VECTORS inline __m128i load_one(const uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

// The bytes [at, at + 16) of every second packet from packet i on.
TURNPIKE_VECTORS inline Words load_four(const Places& places, size_t i, size_t at) {
  __m512i four = _mm512_castsi128_si512(load_one(places[i] + at));
  four = _mm512_inserti64x2(four, load_one(places[i + 2] + at), 1);
  four = _mm512_inserti64x2(four, load_one(places[i + 4] + at), 2);
  four = _mm512_inserti64x2(four, load_one(places[i + 6] + at), 3);
  return reinterpret_cast<Words>(four);
}

// The bytes [at, at + 16) of all.
TURNPIKE_VECTORS inline Sixteen load(const Places& places, size_t at) {
  const Words even = load_four(places, 0, at), odd = load_four(places, 1, at);
  return {__builtin_shufflevector(even, odd, 0, 8, 2, 10, 4, 12, 6, 14),
          __builtin_shufflevector(even, odd, 1, 9, 3, 11, 5, 13, 7, 15)};
}

TURNPIKE_VECTORS inline Words word(uint64_t value) { return Words{} + value; }

// The packets whose words are zero.
TURNPIKE_VECTORS inline uint32_t zeros(Words words) {
  return _mm512_testn_epi64_mask(reinterpret_cast<__m512i>(words),
                                 reinterpret_cast<__m512i>(words));
}

// The big-endian number of 16 bits from this bit on.
TURNPIKE_VECTORS inline Words be16(Words words, unsigned bit) {
  return (words >> (bit + 8) & 0xff) | ((words >> bit & 0xff) << 8);
}

// The two big-endian numbers of each word.
TURNPIKE_VECTORS inline Words be32(Words words) {
  const auto bytes = reinterpret_cast<Octets>(words);
  return reinterpret_cast<Words>(__builtin_shufflevector(
      bytes, bytes, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 19, 18, 17, 16, 23, 22,
      21, 20, 27, 26, 25, 24, 31, 30, 29, 28, 35, 34, 33, 32, 39, 38, 37, 36, 43, 42, 41, 40, 47,
      46, 45, 44, 51, 50, 49, 48, 55, 54, 53, 52, 59, 58, 57, 56, 63, 62, 61, 60));
}

// The packets whose words are negative.
TURNPIKE_VECTORS inline uint32_t negative(Words words) {
  return _mm512_movepi64_mask(reinterpret_cast<__m512i>(words));
}

// Nonzero in words with a negative half.
TURNPIKE_VECTORS inline Words negative_half(Halves halves) {
  return reinterpret_cast<Words>(halves & 0x80000000);
}

// Eight frames of at least kShortest B in their first segments.
struct Eight {
  static constexpr size_t kShortest = wire::kEthernetSize + wire::kIpv4Size + wire::kUdpSize;
  static constexpr size_t kShortest6 = wire::kEthernetSize + wire::kIpv6Size + wire::kUdpSize;

  Places frames;
  Words length;  // of the frames, B
  Words wrong;   // nonzero: of several segments, or to another station
  // Bytes of the frames: up to the first two of the IP header; the next 16; 16 from IPv4's
  // addresses on.
  Sixteen ethernet, ip, addresses;
};

// Packets that pass all checks but for the source's, which may be an address of the router. Words
// of other packets are unspecified.
struct Found {
  uint32_t accepted = 0;  // of eight
  uint32_t suspect = 0;   // of these: share a hash with an address of the router
  Words lengths{};        // PacketInfo's l3, l4, congestion and datagram
  Words kinds{};          // its flags, l4_protocol and protocol
  Words udp{};            // bytes after the IP header

  [[nodiscard]] TURNPIKE_VECTORS Words datagram() const { return lengths >> 48; }
};
static_assert(offsetof(PacketInfo, l3) == 0 && offsetof(PacketInfo, l4) == 2 &&
              offsetof(PacketInfo, congestion) == 4 && offsetof(PacketInfo, datagram) == 6 &&
              offsetof(PacketInfo, flags) == 8 && offsetof(PacketInfo, l4_protocol) == 10 &&
              offsetof(PacketInfo, protocol) == 11 && offsetof(PacketInfo, input) == 12);

TURNPIKE_VECTORS inline Words lengths_of(Words datagram, uint64_t ip_size) {
  return datagram << 48 | ((wire::kEthernetSize + ip_size) << 16 | wire::kEthernetSize);
}

// The checks that both versions have: a datagram of at least `least` B within the frame, and a TTL
// or hop limit of more than 1. Negative words: refused.
TURNPIKE_VECTORS inline Words bounds(const Eight& e, Words datagram, size_t least, Words ttl) {
  return (datagram - least) | (e.length - wire::kEthernetSize - datagram) | (ttl - 2);
}

// EtherType and first octet of IPv4 with a header of 20 B, as in Eight::ethernet.
constexpr uint64_t kIpv4Front = uint64_t{front_word(wire::kEtherTypeIpv4, 0x45)} << 32;
constexpr uint64_t kIpv4FrontMask = uint64_t{front_word(0xffff, 0xff)} << 32;
// Whether any packet has these.
TURNPIKE_VECTORS inline bool any_ipv4(const Eight& e) {
  return zeros((e.ethernet.second ^ kIpv4Front) & kIpv4FrontMask) != 0;
}

// The checks of fast_ipv4().
TURNPIKE_VECTORS inline Found find_ipv4(const Eight& e, uint32_t own) {
  constexpr uint64_t kPieces = uint64_t{__builtin_bswap16(wire::kIpv4FragmentMask)} << 32;
  Words wrong =
      e.wrong | ((e.ethernet.second ^ kIpv4Front) & kIpv4FrontMask) | (e.ip.first & kPieces);

  const Words datagram = be16(e.ip.first, 0);
  const Words bounded =
      bounds(e, datagram, wire::kIpv4Size + wire::kUdpSize, e.ip.first >> 48 & 0xff);

  // kUsualIpv4, of both addresses.
  const auto octet = reinterpret_cast<Halves>(e.addresses.first) & 0xff;
  wrong |=
      negative_half((octet - 1) | (0xdf - octet) | ((octet ^ 0x7f) - 1) | ((octet ^ 0xa9) - 1));

  // Tables::own_hash() of the source, in the low half.
  const auto host = reinterpret_cast<Halves>(be32(e.addresses.first));
  const Words hash =
      reinterpret_cast<Words>(host * Tables::kGolden32 >> Tables::kOwnShift) & 0xffffffff;
  const Words shared = word(own) >> hash & 1;

  // The header's ten 16-bit words: eight of them fill `ip`, the first and the last stand in others.
  // Sums of 64 bits serve as well if their carries are added (RFC 1071 section 2).
  Words sum = e.ip.first + e.ip.second;
  sum += sum < e.ip.first ? word(1) : Words{};
  sum = (sum & 0xffffffff) + (sum >> 32) + (e.ethernet.second >> 48) + (e.addresses.first >> 48);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  wrong |= sum ^ 0xffff;
  const uint32_t accepted = zeros(wrong) & ~negative(bounded);
  static_assert(kMayFragment == 1 << 9);  // "don't fragment" is bit 38
  return {.accepted = accepted,
          .suspect = accepted & ~zeros(shared),
          .lengths = lengths_of(datagram, wire::kIpv4Size),
          .kinds = (~e.ip.first >> 29 & uint64_t{kMayFragment}) | e.ip.first >> 56 << 16,
          .udp = e.addresses.second};
}

// The checks of fast_ipv6().
TURNPIKE_VECTORS inline Found find_ipv6(const Eight& e, uint64_t own) {
  constexpr uint64_t kFront = uint64_t{front_word(wire::kEtherTypeIpv6, 0x60)} << 32;
  constexpr uint64_t kFrontMask = uint64_t{front_word(0xffff, 0xf0)} << 32;
  Words wrong = e.wrong | ((e.ethernet.second ^ kFront) & kFrontMask);

  const Words datagram = be16(e.ip.first, 16) + wire::kIpv6Size;
  const Words bounded =
      bounds(e, datagram, wire::kIpv6Size + wire::kUdpSize, e.ip.first >> 40 & 0xff);

  const Words next = e.ip.first >> 32 & 0xff;
  wrong |= word(kExtensions) >> (next & 63) & ((next >> 6) - 1) >> 63;

  // kUsualIpv6, of both addresses' first octets.
  const auto octet = reinterpret_cast<Halves>((e.ip.first >> 48 & 0xff) |
                                              (e.addresses.second & uint64_t{0xff} << 32));
  wrong |= negative_half(~((((octet & 0xe0) ^ 0x20) - 1) | (((octet & 0xfe) ^ 0xfc) - 1)));

  const Sixteen source = load(e.frames, wire::kEthernetSize + wire::kIpv6SourceAt);
  const Words hash = (source.first ^ source.second) * Tables::kGolden >> Tables::kOwnShift6;
  const Words shared = word(own) >> hash & 1;
  const uint32_t accepted = zeros(wrong) & ~negative(bounded);
  return {.accepted = accepted,
          .suspect = accepted & ~zeros(shared),
          .lengths = lengths_of(datagram, wire::kIpv6Size),
          .kinds = next << 16 | uint64_t{kIpv6},
          .udp = load(e.frames, Eight::kShortest6 - 16).second};
}

// The words of a set, zero for the others.
TURNPIKE_VECTORS inline Words only(uint32_t set, Words words) {
  constexpr Words kPlaces = {0, 1, 2, 3, 4, 5, 6, 7};
  return words & -(word(set) >> kPlaces & 1);
}

// The packets that either has, with its words.
TURNPIKE_VECTORS inline Found merge(const Found& a, const Found& b) {
  const uint32_t all = a.accepted | b.accepted;
  return {.accepted = all,
          .suspect = a.suspect | b.suspect,
          .lengths = only(a.accepted, a.lengths) | only(b.accepted, b.lengths),
          .kinds = only(a.accepted, a.kinds) | only(b.accepted, b.kinds),
          .udp = only(a.accepted, a.udp) | only(b.accepted, b.udp)};
}

// Writes the metadata of all eight; that of packets that are not accepted is written again later.
TURNPIKE_VECTORS inline void fill(PacketInfo* info, const Found& found, uint16_t input) {
  const Words kinds = found.kinds | uint64_t{input} << 32;
  const Words even = __builtin_shufflevector(found.lengths, kinds, 0, 8, 2, 10, 4, 12, 6, 14);
  const Words odd = __builtin_shufflevector(found.lengths, kinds, 1, 9, 3, 11, 5, 13, 7, 15);
  const OnePacket halves[] = {
      __builtin_shufflevector(even, even, 0, 1), __builtin_shufflevector(odd, odd, 0, 1),
      __builtin_shufflevector(even, even, 2, 3), __builtin_shufflevector(odd, odd, 2, 3),
      __builtin_shufflevector(even, even, 4, 5), __builtin_shufflevector(odd, odd, 4, 5),
      __builtin_shufflevector(even, even, 6, 7), __builtin_shufflevector(odd, odd, 6, 7),
  };
  constexpr OnePacket kRest{};
  static_assert(sizeof(PacketInfo) == sizeof halves[0] + sizeof kRest);
  for (unsigned i = 0; i < kEight; ++i) {
    auto* const at = reinterpret_cast<uint8_t*>(&info[i]);
    std::memcpy(at, &halves[i], sizeof halves[i]);
    std::memcpy(at + sizeof halves[i], &kRest, sizeof kRest);
  }
}

// Whether the source of a packet may be an address of the router.
inline bool may_be_own(const uint8_t* ip, bool ipv6, const Tables& tables) {
  return ipv6 ? tables.may_be_own(load_ipv6(ip + wire::kIpv6SourceAt))
              : tables.may_be_own(wire::load_be32(ip + wire::kIpv4SourceAt));
}

// Of the packets found, those of UDP from or to a port; `ports` has it twice.
TURNPIKE_VECTORS inline uint32_t with_port(const Found& found, uint64_t ports) {
  const Words other = (found.kinds >> 16) ^ wire::kProtocolUdp, pair = found.udp ^ ports;
  return found.accepted & (zeros(other | (pair & 0xffff)) | zeros(other | (pair & 0xffff0000)));
}

// Whether all frames have so many bytes.
TURNPIKE_VECTORS inline bool all_have(Words length, size_t bytes) {
  return negative(length - bytes) == 0;
}

// The packets of `set` that usual_turnpike() accepts and that have the protocol of the first; adds
// their metadata. Their UDP headers begin at `l4`.
TURNPIKE_VECTORS inline uint32_t find_turnpike(const Eight& e, uint32_t set, size_t l4,
                                               const Tables& tables, Found& found) {
  static_assert(wire::kVersionKindAt == 0 && wire::kProtocolAt == 1 && wire::kRangesAt == 2 &&
                wire::kLengthAt == 3 && wire::kLengthUnit == 4);
  const size_t at = l4 + wire::kUdpSize;
  if (set == 0 || !all_have(e.length, at + 8)) return 0;
  const Sixteen front = load(e.frames, l4);  // the UDP header and 8 B of Turnpike's
  const Words header = front.second, udp_length = be16(front.first, 32);
  const uint64_t protocol = e.frames[static_cast<unsigned>(std::countr_zero(set))][at + 1];
  const uint64_t congestion = tables.congestion_size(static_cast<uint8_t>(protocol));
  if (congestion == 0) return 0;

  constexpr uint64_t kVersionBits = uint64_t{wire::kVersion} << 4;
  Words wrong = ((header ^ kVersionBits) & 0xf0) | ((header ^ protocol << 8) & 0xff00);
  const Words kind = header & 0x0f;
  const uint32_t data = zeros(kind ^ static_cast<uint64_t>(wire::Kind::kData));
  const uint32_t acks = zeros(kind ^ static_cast<uint64_t>(wire::Kind::kAck));
  const Words ranges = header >> 16 & 0xff;
  const Words length = (header >> 24 & 0xff) * wire::kLengthUnit;
  const Words least = ranges * wire::kRangeSize + wire::kHeaderSize + only(data, word(congestion));
  const Words room = found.datagram() + wire::kEthernetSize - l4;
  const Words bounded = (wire::kMaxRanges - ranges) | (length - least) |
                        (udp_length - wire::kUdpSize - length) | (room - udp_length);
  const uint32_t usual = set & (data | acks) & zeros(wrong) & ~negative(bounded);
  found.kinds |= only(usual, word(kTurnpike | protocol << 24));
  found.lengths |= only(usual & data, word((at + wire::kHeaderSize) << 32));
  return usual;
}

[[gnu::target(TURNPIKE_AVX512)]] ParsedEight parse_with_avx512(Burst& burst,
                                                               const FastStation& station,
                                                               const Tables& tables) {
  const uint64_t ports = uint64_t{__builtin_bswap16(tables.udp_port())} * 0x10001;
  ParsedEight out;
  Words bytes{};
  for (unsigned first = 0; first + kEight <= burst.count; first += kEight) {
    rte_mbuf* const* const mbufs = &burst.mbufs[first];
    Places buffers;
    for (unsigned i = 0; i < kEight; ++i) buffers[i] = reinterpret_cast<uint8_t*>(mbufs[i]);
    const Sixteen lengths = load(buffers, offsetof(rte_mbuf, packet_type));
    Eight e;
    e.length = lengths.second & 0xffff;
    if (!all_have(e.length, Eight::kShortest)) continue;
    for (unsigned i = 0; i < kEight; ++i) e.frames[i] = frame_of(mbufs[i]);
    e.ethernet = load(e.frames, 0);
    e.ip = load(e.frames, wire::kEthernetSize + 2);
    e.addresses = load(e.frames, wire::kEthernetSize + wire::kIpv4SourceAt);
    e.wrong = (e.length ^ lengths.first >> 32) | (e.ethernet.first ^ station.mac) << 16;

    Found found;
    if (any_ipv4(e)) found = find_ipv4(e, station.own);
    uint32_t ipv6 = 0;
    const bool room6 = all_have(e.length, Eight::kShortest6);
    if (found.accepted != kAll && room6) {
      const Found found6 = find_ipv6(e, station.own6);
      ipv6 = found6.accepted;
      found = merge(found, found6);
    }
    for_each(found.suspect, [&](unsigned i) {
      const bool own = may_be_own(e.frames[i] + wire::kEthernetSize, (ipv6 >> i & 1) != 0, tables);
      found.accepted &= ~(uint32_t{own} << i);
    });
    if (found.accepted == 0) {
      if (room6) break;
      continue;
    }

    const auto ipv4 = __builtin_convertvector(be32(e.addresses.first) >> 32, Narrow);
    std::memcpy(&burst.destinations4[first], &ipv4, sizeof ipv4);
    for_each_dense(ipv6, [&](unsigned i) {
      burst.destinations6[first + i] =
          load_ipv6(e.frames[i] + wire::kEthernetSize + wire::kIpv6DestinationAt);
    });
    const uint32_t to_turnpike = with_port(found, ports);
    constexpr size_t kUdp4 = wire::kEthernetSize + wire::kIpv4Size,
                     kUdp6 = wire::kEthernetSize + wire::kIpv6Size;
    const uint32_t usual = find_turnpike(e, to_turnpike & ~ipv6, kUdp4, tables, found) |
                           find_turnpike(e, to_turnpike & ipv6, kUdp6, tables, found);
    fill(&burst.info[first], found, burst.input);
    const Words frame = found.datagram() + wire::kEthernetSize;
    for_each(found.accepted & ~zeros(e.length ^ frame), [&](unsigned i) {
      mbufs[i]->data_len =
          static_cast<uint16_t>(wire::kEthernetSize + burst.info[first + i].datagram);
      mbufs[i]->pkt_len = mbufs[i]->data_len;
    });
    out.ipv4 |= (found.accepted & ~ipv6) << first;
    out.ipv6 |= (found.accepted & ipv6) << first;
    out.to_turnpike |= (to_turnpike & ~usual) << first;
    bytes += only(found.accepted, found.datagram());
  }
  for (unsigned i = 0; i < kEight; ++i) out.bytes += bytes[i];
  return out;
}

}  // namespace

ParseEight parse_eight() {
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide ? parse_with_avx512 : nullptr;
}

#undef TURNPIKE_VECTORS
#undef TURNPIKE_AVX512

}  // namespace turnpike::router
