// SPDX-License-Identifier: BSD-3-Clause
// A DPDK port as an object: attaches, configures, starts, stops and detaches.
//
// Example:
//
//     #include "common/dpdk/pool.h"
//
//     auto pool = Pool::create("example", {.mbufs = 4095});  // Eal::start() comes before
//     if (!pool) return;                                     // pool.error() says why
//     rte_mempool* const pools[] = {pool->get()};
//     auto port = Port::open(other_device("net_ring0"), {.queues = 1}, pools);
//     if (!port || !port->start()) return;
//     rte_mbuf* burst[32];
//     const uint16_t received = port->queue(0).rx(Nanos(0), burst);
//     const uint16_t sent = port->queue(0).tx(Nanos(0), {burst, received});
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "common/dpdk/device.h"
#include "common/dpdk/eth_queue.h"
#include "common/dpdk/extended_stats.h"
#include "common/dpdk/flow_control.h"
#include "common/dpdk/kernel_interface.h"
#include "common/dpdk/offloads.h"
#include "common/dpdk/removal_watch.h"

struct rte_mempool;

namespace turnpike {

struct PortOptions {
  uint16_t queues = 1;  // of receive and of transmit queues; RSS distributes flows over several
  uint16_t rx_descriptors = 1024, tx_descriptors = 1024;  // adjusted to the port's limits
  uint16_t mtu = 1500;                                    // of IP datagrams, B
  bool promiscuous = true;                                // receives frames for any destination MAC
  // See PortUse. Without `chains`, tx() still joins the segments of packets that have several.
  bool ip_verdicts = false, udp_verdicts = false, chains = true, moves_buckets = false;
};

/// Counters of the device since the port was opened. Bytes are frames as the driver counts them:
/// with Ethernet's header, with some drivers also the FCS.
struct PortStats {
  uint64_t rx_packets = 0, rx_bytes = 0, tx_packets = 0, tx_bytes = 0;
  uint64_t rx_missed = 0;   // no free descriptor: the lcore was too slow
  uint64_t rx_no_mbuf = 0;  // the pool was empty
  uint64_t rx_errors = 0, tx_errors = 0;
  // Of buckets that moved to another queue, while no more packets could be parked (RssSteering).
  uint64_t rx_unparked = 0;
};

/// Used by the control thread; each of its EthQueues is used by one lcore.
class Port {
 public:
  /// Attaches and configures. The error has the device's limit, or the change that the host needs.
  static tl::expected<Port, std::string> open(const Device& device, const PortOptions& options,
                                              std::span<rte_mempool* const> pools);
  /// Attaches the device, so that socket() is known. Call configure() next, once.
  static tl::expected<Port, std::string> attach(const Device& device);
  /// `pools`: one per queue, or one for all. They must outlive the port.
  tl::expected<void, std::string> configure(const PortOptions& options,
                                            std::span<rte_mempool* const> pools);

  Port(Port&& other) noexcept;
  Port& operator=(Port&&) = delete;
  /// Stops, closes and detaches: buffers in the device's queues return to their pools.
  ~Port();

  /// Starts the port, and sets its flow control if the device names one. Does nothing if the port
  /// is started already. May be called again after an error.
  tl::expected<void, std::string> start();
  /// Ends reception and transmission. Does nothing if the port is stopped already.
  void stop();

  /// The queue pair of one lcore; lives as long as the port.
  [[nodiscard]] EthQueue& queue(uint16_t i) { return *queues_[i]; }
  /// Whether it is a memif client, which cannot start before its server.
  [[nodiscard]] bool follows() const { return follows_; }
  /// Whether link_up() is the carrier of a medium: at a NIC or a kernel interface. A memif port
  /// refuses packets without its peer; a tap interface may be in a network namespace where its
  /// driver does not see it.
  [[nodiscard]] bool has_carrier() const { return physical() || !interface_name_.empty(); }
  /// Returns whether the link is up. Call every 10 to 20 ms from the control thread: some calls try
  /// to connect a memif client that has no server or has lost it.
  bool keep_link();
  /// State of the kernel interface under the port; kUp if there is none.
  [[nodiscard]] KernelInterface::State interface_state() const {
    return interface_ ? interface_->state() : KernelInterface::State::kUp;
  }
  /// Whether the device goes away, or is gone: the program should close the port soon.
  [[nodiscard]] bool removed() const { return watch_ && watch_->removed(); }
  [[nodiscard]] const std::string& interface() const { return interface_name_; }
  /// True for drivers that know no link state.
  [[nodiscard]] bool link_up() const;
  /// Speed of the link, Mbit/s; 0: unknown, or the link is down.
  [[nodiscard]] uint32_t link_mbps() const;
  [[nodiscard]] PortStats stats() const;
  /// Has none before the start.
  [[nodiscard]] const ExtendedStats& extended_stats() const { return extended_; }
  /// The flow control in force; none: the driver has none, or does not tell.
  [[nodiscard]] std::optional<FlowControl> flow_control() const { return flow_control_of(id_); }
  /// The flow control that start() sets; none: the driver's own.
  [[nodiscard]] std::optional<FlowControl> wanted_flow_control() const { return wanted_; }
  /// Whether it is a NIC, and not a virtual device that this process has made.
  [[nodiscard]] bool physical() const { return !attached_; }
  /// DPDK's name of the driver, such as net_e1000_em.
  [[nodiscard]] const std::string& driver() const { return driver_; }
  /// The offloads that are on.
  [[nodiscard]] const Offloads& offloads() const { return offloads_; }
  /// Queues of each direction, and descriptors of each queue.
  [[nodiscard]] uint16_t queues() const { return static_cast<uint16_t>(queues_.size()); }
  [[nodiscard]] uint16_t rx_descriptors() const { return rx_descriptors_; }
  [[nodiscard]] uint16_t tx_descriptors() const { return tx_descriptors_; }
  /// Rate of the medium, bit/s; 0: the driver does not know it.
  [[nodiscard]] double speed() const;
  /// The redirection table: the queue of each bucket. Empty: no bucket may move (see PortUse), or
  /// the driver does not show the table. Call after start().
  [[nodiscard]] std::vector<uint16_t> redirection_table() const;
  /// Gives buckets to a queue. False: the driver refuses; the table may have changed all the same.
  [[nodiscard]] bool move_buckets(std::span<const uint16_t> buckets, uint16_t queue);
  /// See EthQueue::steer(). Call before the lcores poll.
  void steer(RssSteering& steering, unsigned number);
  [[nodiscard]] uint16_t id() const { return id_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// NUMA node of the device; SOCKET_ID_ANY for virtual devices.
  [[nodiscard]] int socket() const;
  [[nodiscard]] std::array<uint8_t, 6> mac() const;

 private:
  Port(uint16_t id, const Device& device)
      : id_(id),
        name_(device.name),
        attached_(!device.arguments.empty()),
        follows_(device.follows),
        interface_name_(device.interface),
        wanted_(device.flow_control) {
    if (!interface_name_.empty()) interface_.emplace(interface_name_);
    if (!attached_) watch_ = std::make_unique<RemovalWatch>(name_, id_);
  }

  static constexpr uint16_t kNone = UINT16_MAX;
  uint16_t id_ = kNone;
  std::string name_;
  bool attached_ = false;  // a virtual device, detached by the destructor
  bool follows_ = false;
  bool started_ = false;
  unsigned calls_ = 0;  // of keep_link() since the last attempt to connect
  std::string driver_;
  Offloads offloads_;
  const RssSteering* steering_ = nullptr;  // null: no bucket moves
  unsigned number_ = 0;                    // of the port there
  uint16_t rx_descriptors_ = 0, tx_descriptors_ = 0;
  std::string interface_name_;
  std::optional<KernelInterface> interface_;
  std::optional<FlowControl> wanted_;
  ExtendedStats extended_;
  std::unique_ptr<RemovalWatch> watch_;  // null: a virtual device
  std::vector<std::unique_ptr<EthQueue>> queues_;
};

/// Starts the ports that need no peer, which are all but memif clients. Returns the reasons of
/// those that did not start.
std::vector<std::string> start_ports(std::span<Port* const> ports);

/// Waits until the links of started ports and memif clients are up; with `clients_only`, only those
/// of memif clients. `pause` waits 10 to 20 ms, and returns false to end the wait (time-out or
/// signal). Returns the indices of ports whose links are still down.
std::vector<size_t> wait_for_links(std::span<Port* const> ports, const std::function<bool()>& pause,
                                   bool clients_only = false);

}  // namespace turnpike
