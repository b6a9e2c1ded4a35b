// SPDX-License-Identifier: BSD-3-Clause
// A host of the topology: checks and dispatches all frames that its queue pair receives.
#pragma once

#include <array>
#include <memory>
#include <span>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "sender/connection/source.h"
#include "sender/host/groups.h"
#include "sender/host/received_packet.h"
#include "sender/open_loop/open_loop.h"

namespace turnpike::sender {

/// Sizes and key of a host's receiver; see Receiver.
struct SinkParts {
  uint32_t flows = 0;      // at a time
  size_t runs = 0;         // gaps in all flows together
  bool populated = true;   // at construction: touch the gaps' memory, build all paths' headers
  SecretKey secret{};      // key of tokens
  SecretKey run_secret{};  // of which trees' keys are derived
};

/// Owned by one lcore.
class Host {
 public:
  static constexpr uint16_t kBurst = 64;
  static constexpr unsigned kPrefetchDistance = 4;  // packets between steps of receive()

  /// `index`: into Topology::hosts. The topology, queue and lcore outlive the host. The error names
  /// the host.
  static tl::expected<std::unique_ptr<Host>, std::string> make(const config::Topology& topology,
                                                               uint32_t index, QueuePair& queue,
                                                               LcoreState& lcore,
                                                               const SinkParts& sink);

  /// Receives and handles at most kBurst frames; returns their number.
  uint16_t receive(Nanos now);
  /// Appends due packets of open-loop streams to the TX buffer; returns their number.
  unsigned emit(Nanos now) { return open_loop_.emit(tx_, now); }
  /// Sends the TX buffer, as far as the queue accepts it.
  void flush(Nanos now) { tx_.flush(now); }

  [[nodiscard]] Source& source() { return source_; }
  [[nodiscard]] OpenLoop& open_loop() { return open_loop_; }
  [[nodiscard]] const OpenLoop& open_loop() const { return open_loop_; }
  [[nodiscard]] const HostTotals& totals() const { return totals_; }
  [[nodiscard]] const Delays& delays() const { return delays_; }
  [[nodiscard]] const QueuePair& queue() const { return queue_; }
  /// Frames that wait for the queue to take them.
  [[nodiscard]] uint16_t waiting() const { return tx_.waiting(); }
  [[nodiscard]] uint32_t index() const { return index_; }
  [[nodiscard]] const Receiver& receiver() const { return *receiver_; }

  /// Counts a flow that starts late: it waited for an entry of the flow table.
  void count_delayed_flow() { totals_.delayed_flows.add(); }
  /// Counts a flow that does not start: no entry of the flow table became free in time.
  void count_unstarted_flow() { totals_.unstarted_flows.add(); }
  /// Publishes the totals that need no update at every packet: budget and commitment.
  void publish();

 private:
  Host(const config::Topology& topology, uint32_t index, QueuePair& queue, LcoreState& lcore,
       std::unique_ptr<Strategy> strategy, const SinkParts& sink);

  /// Class of a frame by its headers.
  enum class Kind : uint8_t { kBad, kForeign, kNotUdp, kStream, kRequest, kAnswer };
  struct HostPacket : ReceivedPacket {
    const Group* group;  // that it is addressed to; null: the host alone
  };

  [[nodiscard]] Kind read(rte_mbuf& m, HostPacket& out) const;
  [[nodiscard]] Kind read_turnpike(const uint8_t* frame, HostPacket& out) const;
  [[nodiscard]] bool for_us(const uint8_t* frame, HostPacket& out) const;
  /// True: the buffer now holds a reply to send. False: the caller frees it.
  bool handle(Kind kind, rte_mbuf& m, const HostPacket& arrival, Nanos now);
  bool take_request(rte_mbuf& m, const HostPacket& arrival, Nanos now);
  void take_answer(const rte_mbuf& m, const ReceivedPacket& arrival, Nanos now);

  const config::Interface& own_;
  Groups groups_;
  QueuePair& queue_;
  uint32_t index_;
  uint16_t udp_port_;
  HostTotals totals_;
  Delays delays_;
  TxBuffer tx_;
  Paths paths_;
  Source source_;
  std::unique_ptr<Receiver> receiver_;
  OpenLoop open_loop_;
  std::array<HostPacket, kBurst> arrivals_;  // of the current burst
};

}  // namespace turnpike::sender
