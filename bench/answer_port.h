// SPDX-License-Identifier: BSD-3-Clause
// A port behind which everything arrives: each packet is acknowledged a round trip later, at a
// constant price.
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
#include "common/dpdk/buffer.h"
#include "common/dpdk/queue_pair.h"
#include "common/protocols/fcp/header.h"
#include "common/wire/frame_builder.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::bench {

/// For one host that sends over IPv4. Like a NIC it writes what arrives into fresh buffers and says
/// that checksums are right; between the two it keeps a few bytes per packet, so its cost is small
/// and the same for any number of flows.
class AnswerPort final : public QueuePair {
 public:
  struct Options {
    wire::FrameSpec back;  // of what it sends; the destination port is the flow's own
    Nanos rtt{0};
    float price = 0;       // $/B
    size_t under_way = 0;  // packets, at most; a power of two
  };
  AnswerPort(const Options& options, rte_mempool* pool)
      : options_(options), pool_(pool), answers_(options.under_way) {
    const auto frame = wire::build_frame(options.back, {}, kDatagram);
    std::copy_n(frame.begin(), kPayloadAt, headers_.begin());
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
  /// From now on `check` hears of every poll and of every data packet, with the time that `clock`
  /// gives; flows' ids lie below its number of flows, a power of two, when cut to its bits.
  void watch(PacingCheck& check, size_t flows, std::function<Nanos()> clock) {
    check_ = &check;
    flow_mask_ = flows - 1;
    clock_ = std::move(clock);
  }

 private:
  static constexpr size_t kPayloadAt = wire::kEthernetSize + wire::kIpv4Size + wire::kUdpSize;
  static constexpr uint16_t kLength = wire::header_length(fcp::kHeaderSize, 0);
  static constexpr uint16_t kDatagram = kPayloadAt - wire::kEthernetSize + kLength;

  struct Answer {
    Nanos due{0};
    uint32_t flow = 0, sequence = 0, timestamp = 0;
    uint16_t port = 0;
    wire::Kind kind = wire::Kind::kAck;
    std::array<uint8_t, fcp::kHeaderSize> congestion{};
  };
  Answer& at(uint64_t i) { return answers_[i & (answers_.size() - 1)]; }

  static wire::Kind answer_to(wire::Kind kind) {
    if (kind == wire::Kind::kSyn) return wire::Kind::kSynAck;
    return kind == wire::Kind::kFin ? wire::Kind::kFinAck : wire::Kind::kAck;
  }

  void take(rte_mbuf& m, Nanos now, Nanos moment) {
    const auto* frame = rte_pktmbuf_mtod(&m, const uint8_t*);
    wire::Header h;
    if (wire::decode({frame + kPayloadAt, m.data_len - kPayloadAt}, h) != wire::HeaderError::kNone)
      std::abort();
    data_ += h.kind == wire::Kind::kData;
    Answer& a = at(tail_++);
    a.due = now + options_.rtt;
    a.flow = h.flow;
    a.sequence = h.sequence;
    a.timestamp = h.timestamp;
    a.port = wire::load_be16(frame + wire::kEthernetSize + wire::kIpv4Size);
    a.kind = answer_to(h.kind);
    std::memcpy(a.congestion.data(), frame + kPayloadAt + wire::kHeaderSize, fcp::kHeaderSize);
    wire::store_f32(a.congestion.data() + fcp::kPriceOffset, options_.price);
    if (check_ != nullptr && h.kind == wire::Kind::kData) check_->sent(h.flow & flow_mask_, moment);
  }

  void write(const Answer& a, rte_mbuf& m) const {
    auto* frame = rte_pktmbuf_mtod(&m, uint8_t*);
    std::memcpy(frame, headers_.data(), kPayloadAt);
    wire::store_be16(frame + kPayloadAt - wire::kUdpSize + wire::kUdpDestinationAt, a.port);
    // Nothing is lost or overtaken, so that all before it have arrived.
    wire::encode({.kind = a.kind,
                  .protocol = fcp::kProtocolId,
                  .length = kLength,
                  .flow = a.flow,
                  .sequence = a.sequence,
                  .acknowledgement = a.kind == wire::Kind::kAck ? a.sequence + 1 : a.sequence,
                  .timestamp = a.timestamp,
                  .echo = a.timestamp},
                 frame + kPayloadAt);
    std::memcpy(frame + kPayloadAt + wire::kHeaderSize, a.congestion.data(), fcp::kHeaderSize);
    m.data_len = kPayloadAt + kLength;
    m.pkt_len = m.data_len;
    m.ol_flags = kSumsChecked;
  }

  Options options_;
  rte_mempool* pool_;
  std::array<uint8_t, kPayloadAt> headers_{};
  std::vector<Answer> answers_;
  uint64_t head_ = 0, tail_ = 0, data_ = 0;
  PacingCheck* check_ = nullptr;
  size_t flow_mask_ = 0;
  std::function<Nanos()> clock_;
};

}  // namespace turnpike::bench
