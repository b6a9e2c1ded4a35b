// SPDX-License-Identifier: BSD-3-Clause
// A port that acknowledges each packet a round trip later, at a constant price.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <rte_mbuf.h>

#include "bench/pacing_check.h"
#include "common/config/topology.h"
#include "common/dpdk/buffer.h"
#include "common/dpdk/queue_pair.h"
#include "common/protocols/fcp/header.h"
#include "common/wire/frame_builder.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::bench {

/// The headers of answers from one interface to another, over IPv4.
inline wire::FrameSpec answers_between(const config::Interface& from, const config::Interface& to,
                                       uint16_t udp_port) {
  wire::FrameSpec spec;
  spec.source_mac = from.mac;
  spec.destination_mac = to.mac;
  spec.addresses = wire::Ipv4Pair{from.ipv4.address, to.ipv4.address};
  spec.source_port = udp_port;
  return spec;
}

/// For one host that sends over IPv4. Like a NIC it writes arriving packets into fresh buffers and
/// sets the flags of valid checksums. Between sending and arrival it keeps a few bytes per packet,
/// so its cost is small and nearly the same for any number of flows.
class AnswerPort final : public QueuePair {
 public:
  struct Options {
    wire::FrameSpec back;  // of its answers; the destination port is the flow's own
    Nanos rtt{0};
    float price = 0;                             // $/B
    size_t under_way = 0;                        // packets, at most; a power of two
    std::function<void(rte_mbuf&)> finish = {};  // called with each answer before it arrives
  };
  AnswerPort(const Options& options, rte_mempool* pool)
      : options_(options), pool_(pool), answers_(options.under_way) {
    std::array<uint8_t, kLength> headers;
    wire::encode({.protocol = fcp::kProtocolId, .length = kLength}, headers.data());
    // A source knows its own promises; it reads only the price.
    fcp::store({.price = options.price, .balance = options.price},
               headers.data() + wire::kHeaderSize);
    const auto frame = wire::build_frame(options.back, headers, kDatagram);
    std::copy_n(frame.begin(), kFrame, frame_.begin());
  }

  uint16_t rx(Nanos now, std::span<rte_mbuf*> out) override {
    if (check_ != nullptr) check_->polled(now);
    uint16_t n = 0;
    while (n < out.size() && head_ != tail_ && at(head_).due <= now) {
      rte_mbuf* m = take_buffer(pool_);
      if (m == nullptr) break;
      write(at(head_++), *m);
      out[n++] = m;
    }
    return n;
  }

  uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) override {
    const Nanos moment = check_ != nullptr ? clock_() : now;
    const uint64_t room = answers_.size() - (tail_ - head_);
    const auto taken = burst.first(std::min<uint64_t>(burst.size(), room));
    for (rte_mbuf* m : taken) {
      take(*m, now, moment);
      give_back(m);
    }
    return static_cast<uint16_t>(taken.size());
  }

  [[nodiscard]] Nanos next_deadline() const override {
    return head_ == tail_ ? kNever : answers_[head_ & (answers_.size() - 1)].due;
  }

  [[nodiscard]] uint64_t data() const { return data_; }
  /// Reports every poll and every data packet to `check` from now on, with the time of `clock`.
  /// Flow ids are masked to the bits of its number of flows, a power of two.
  void watch(PacingCheck& check, size_t flows, std::function<Nanos()> clock) {
    check_ = &check;
    flow_mask_ = flows - 1;
    clock_ = std::move(clock);
  }

 private:
  static constexpr size_t kUdpAt = wire::kEthernetSize + wire::kIpv4Size;
  static constexpr size_t kPayloadAt = kUdpAt + wire::kUdpSize;
  static constexpr uint16_t kLength = wire::header_length(fcp::kHeaderSize, 0);
  static constexpr uint16_t kFrame = kPayloadAt + kLength;
  static constexpr uint16_t kDatagram = kFrame - wire::kEthernetSize;

  // The fields that differ between answers; those of the wire format in its byte order.
  struct Answer {
    Nanos due{0};
    uint32_t flow, sequence, timestamp;
    uint16_t port;
    wire::Kind kind;
  };
  static_assert(sizeof(Answer) == 24);
  Answer& at(uint64_t i) { return answers_[i & (answers_.size() - 1)]; }

  static wire::Kind answer_to(wire::Kind kind) {
    if (kind == wire::Kind::kSyn) return wire::Kind::kSynAck;
    return kind == wire::Kind::kFin ? wire::Kind::kFinAck : wire::Kind::kAck;
  }

  void take(rte_mbuf& m, Nanos now, Nanos moment) {
    const auto* frame = rte_pktmbuf_mtod(&m, const uint8_t*);
    const uint8_t* headers = frame + kPayloadAt;
    if (headers[wire::kProtocolAt] != fcp::kProtocolId) std::abort();
    const auto kind = static_cast<wire::Kind>(headers[wire::kVersionKindAt] & 0x0f);
    Answer& a = at(tail_++);
    a.due = now + options_.rtt;
    copy(&a.flow, headers + wire::kFlowAt);
    copy(&a.sequence, headers + wire::kSequenceAt);
    copy(&a.timestamp, headers + wire::kTimestampAt);
    copy(&a.port, frame + kUdpAt + wire::kUdpSourceAt);
    a.kind = answer_to(kind);
    if (kind != wire::Kind::kData) return;
    ++data_;
    if (check_ != nullptr)
      check_->sent(wire::load_be32(headers + wire::kFlowAt) & flow_mask_, moment);
  }

  void write(const Answer& a, rte_mbuf& m) const {
    auto* frame = rte_pktmbuf_mtod(&m, uint8_t*);
    std::memcpy(frame, frame_.data(), kFrame);
    std::memcpy(frame + kUdpAt + wire::kUdpDestinationAt, &a.port, sizeof a.port);
    uint8_t* headers = frame + kPayloadAt;
    headers[wire::kVersionKindAt] = wire::kVersion << 4 | static_cast<uint8_t>(a.kind);
    std::memcpy(headers + wire::kFlowAt, &a.flow, sizeof a.flow);
    std::memcpy(headers + wire::kSequenceAt, &a.sequence, sizeof a.sequence);
    // No packet is lost or reordered, so all before it have arrived.
    const uint32_t sequence = wire::swap_be32(a.sequence);
    wire::store_be32(headers + wire::kAcknowledgementAt,
                     a.kind == wire::Kind::kAck ? sequence + 1 : sequence);
    std::memcpy(headers + wire::kEchoAt, &a.timestamp, sizeof a.timestamp);
    m.data_len = kFrame;
    m.pkt_len = kFrame;
    m.ol_flags = kSumsChecked;
    if (options_.finish) options_.finish(m);
  }

  template <class T>
  static void copy(T* to, const uint8_t* from) {
    std::memcpy(to, from, sizeof *to);
  }

  Options options_;
  rte_mempool* pool_;
  std::array<uint8_t, kFrame> frame_{};  // an answer
  std::vector<Answer> answers_;
  uint64_t head_ = 0, tail_ = 0, data_ = 0;
  PacingCheck* check_ = nullptr;
  size_t flow_mask_ = 0;
  std::function<Nanos()> clock_;
};

}  // namespace turnpike::bench
