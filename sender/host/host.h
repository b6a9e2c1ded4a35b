// SPDX-License-Identifier: BSD-3-Clause
// One host of the topology: everything that its queue pair brings is judged here.
#pragma once

#include <array>
#include <memory>
#include <span>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/wire/layers.h"
#include "sender/connection/source.h"
#include "sender/open_loop/open_loop.h"
#include "sender/receiver/receiver.h"

namespace turnpike::sender {

/// What a host remembers of what others send to it.
struct SinkParts {
  uint32_t flows = 0;
  size_t runs = 0;        // gaps among all of them
  bool populated = true;  // the gaps' memory is there from the beginning
  SecretKey secret{};     // of tokens
};

/// Owned by one lcore.
class Host {
 public:
  static constexpr uint16_t kBurst = 64;
  static constexpr unsigned kPrefetchDistance =
      4;  // packets, from one stage of receive() to the next

  /// `index` into Topology::hosts. The topology, queue and lcore outlive the host.
  static tl::expected<std::unique_ptr<Host>, std::string> make(const config::Topology& topology,
                                                               uint32_t index, QueuePair& queue,
                                                               LcoreState& lcore,
                                                               const SinkParts& sink);

  /// Takes what has arrived, at most kBurst frames; returns how many there were.
  uint16_t receive(Nanos now);
  /// Gathers what its open-loop streams have due; returns how many packets that are.
  unsigned emit(Nanos now) { return open_loop_.emit(tx_, now); }
  /// Sends what has been gathered.
  void flush(Nanos now) { tx_.flush(now); }

  [[nodiscard]] Source& source() { return source_; }
  [[nodiscard]] OpenLoop& open_loop() { return open_loop_; }
  [[nodiscard]] const OpenLoop& open_loop() const { return open_loop_; }
  [[nodiscard]] const HostTotals& totals() const { return totals_; }
  [[nodiscard]] const QueuePair& queue() const { return queue_; }
  /// Frames that wait for the queue to take them.
  [[nodiscard]] uint16_t waiting() const { return tx_.waiting(); }
  [[nodiscard]] uint32_t index() const { return index_; }
  [[nodiscard]] const Receiver& receiver() const { return *receiver_; }

  /// A flow starts later than it was asked for: it had to wait for a free place.
  void count_delayed_flow() { totals_.delayed_flows.add(); }
  /// A flow was asked for and will not start: it found no place in time.
  void count_unstarted_flow() { totals_.unstarted_flows.add(); }
  /// Publishes figures that need not be right at every packet.
  void publish();

 private:
  Host(const config::Topology& topology, uint32_t index, QueuePair& queue, LcoreState& lcore,
       std::unique_ptr<Strategy> strategy);

  /// What a frame is, by its headers.
  enum class Kind : uint8_t { kBad, kForeign, kNotUdp, kStream, kRequest, kAnswer };
  struct Arrival {
    wire::UdpFrame at;
    wire::Header header;
    const Protocol* protocol;
  };

  [[nodiscard]] Kind read(rte_mbuf& m, Arrival& out) const;
  [[nodiscard]] Kind read_turnpike(const uint8_t* frame, Arrival& out) const;
  [[nodiscard]] bool for_us(const uint8_t* frame, const wire::UdpFrame& at) const;
  /// Whether the frame goes back out, as an answer; otherwise it is done with.
  bool handle(Kind kind, rte_mbuf& m, const Arrival& arrival, Nanos now);
  bool take_request(rte_mbuf& m, const Arrival& arrival, Nanos now);
  void take_answer(const rte_mbuf& m, const Arrival& arrival, Nanos now);

  const config::Interface& own_;
  QueuePair& queue_;
  uint32_t index_;
  uint16_t udp_port_;
  HostTotals totals_;
  TxBuffer tx_;
  Source source_;
  std::unique_ptr<Receiver> receiver_;
  OpenLoop open_loop_;
  std::array<Arrival, kBurst> arrivals_;  // of the burst at hand
};

}  // namespace turnpike::sender
