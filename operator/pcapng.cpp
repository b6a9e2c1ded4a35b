// SPDX-License-Identifier: BSD-3-Clause
#include "operator/pcapng.h"

#include <algorithm>

namespace turnpike::ops {
namespace {

// Block types and option codes: sections 4 and 3.5 of the draft.
constexpr uint32_t kSection = 0x0a0d0d0a, kInterface = 1, kStatistics = 5, kEnhancedPacket = 6;
constexpr uint16_t kEnd = 0, kComment = 1, kUserApplication = 4, kName = 2, kDescription = 3,
                   kSpeed = 8, kResolution = 9, kFlags = 2, kReceived = 4, kDropped = 5;
constexpr size_t kMaxOption = 65'000;  // B: a length has 16 bits

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void pad(std::string& out) { out.append((4 - out.size() % 4) % 4, '\0'); }

void option(std::string& out, uint16_t code, std::string_view value) {
  value = value.substr(0, kMaxOption);
  put(out, code);
  put(out, static_cast<uint16_t>(value.size()));
  out += value;
  pad(out);
}
template <class T>
void number_option(std::string& out, uint16_t code, T value) {
  option(out, code, std::string_view(reinterpret_cast<const char*>(&value), sizeof value));
}
void end_options(std::string& out) { put(out, uint32_t{kEnd}); }

// Both halves of a time, the upper one first.
void put_time(std::string& out, uint64_t ns) {
  put(out, static_cast<uint32_t>(ns >> 32));
  put(out, static_cast<uint32_t>(ns));
}

}  // namespace

void Pcapng::block(uint32_t type, const std::string& body) {
  const auto length = static_cast<uint32_t>(body.size() + 12);
  std::string out;
  put(out, type);
  put(out, length);
  out += body;
  put(out, length);
  out_(out);
}

Pcapng::Pcapng(Out out, std::string_view application) : out_(std::move(out)) {
  std::string body;
  put(body, uint32_t{0x1a2b3c4d});  // byte order
  put(body, uint16_t{1});           // version 1.0
  put(body, uint16_t{0});
  put(body, int64_t{-1});  // length of the section: not known yet
  option(body, kUserApplication, application);
  end_options(body);
  block(kSection, body);
}

void Pcapng::add_interface(std::string_view name, std::string_view description, uint64_t rate_bps,
                           uint32_t snap) {
  std::string body;
  put(body, uint16_t{1});  // LINKTYPE_ETHERNET
  put(body, uint16_t{0});
  put(body, snap);
  option(body, kName, name);
  option(body, kDescription, description);
  number_option(body, kSpeed, rate_bps);
  number_option(body, kResolution, uint8_t{9});  // 10^-9 s
  end_options(body);
  block(kInterface, body);
}

void Pcapng::add(const Packet& packet) {
  std::string body;
  put(body, packet.interface);
  put_time(body, packet.time_ns);
  put(body, static_cast<uint32_t>(packet.bytes.size()));
  put(body, packet.length);
  body.append(reinterpret_cast<const char*>(packet.bytes.data()), packet.bytes.size());
  pad(body);
  if (!packet.comment.empty()) option(body, kComment, packet.comment);
  number_option(body, kFlags, static_cast<uint32_t>(packet.direction));
  end_options(body);
  block(kEnhancedPacket, body);
}

void Pcapng::add_statistics(uint32_t interface, uint64_t time_ns, uint64_t received,
                            uint64_t dropped, std::string_view comment) {
  std::string body;
  put(body, interface);
  put_time(body, time_ns);
  if (!comment.empty()) option(body, kComment, comment);
  number_option(body, kReceived, received);
  number_option(body, kDropped, dropped);
  end_options(body);
  block(kStatistics, body);
}

}  // namespace turnpike::ops
