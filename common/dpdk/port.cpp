// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/port.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "common/dpdk/dpdk_log.h"
#include "common/dpdk/interrupt_thread.h"
#include "common/dpdk/memif_client.h"

namespace turnpike {

namespace {

using Done = tl::expected<void, std::string>;

constexpr size_t kGroup = RTE_ETH_RETA_GROUP_SIZE;  // entries of a rte_eth_rss_reta_entry64

Done failed(const std::string& port, const char* what, int error, const CapturedLog& log) {
  const std::string reason = log.text();
  return tl::unexpected(port + ": cannot " + what + ": " +
                        (reason.empty() ? rte_strerror(-error) : reason));
}

bool is_memif(const rte_eth_dev_info& info) {
  return std::strcmp(info.driver_name, "net_memif") == 0;
}

/// Stops or closes a port; for memif on the interrupt thread. There memif's driver frees a
/// connection when the neighbour disconnects, and a simultaneous call here would free it again.
void in_turn(const rte_eth_dev_info& info, const std::function<void()>& act) {
  if (is_memif(info)) {
    on_interrupt_thread(act);
  } else {
    act();
  }
}

/// Bytes that the driver counts beyond the MTU (ethdev's own rule).
uint32_t frame_overhead(const rte_eth_dev_info& info) {
  if (info.max_mtu != UINT16_MAX && info.max_rx_pktlen > info.max_mtu) {
    return info.max_rx_pktlen - info.max_mtu;
  }
  return RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
}

uint32_t max_mtu(const rte_eth_dev_info& info) {
  return std::min<uint32_t>(info.max_mtu, info.max_rx_pktlen - frame_overhead(info));
}

/// The MTU to configure for `wanted`; 0: the device cannot carry it.
uint16_t fitting_mtu(const rte_eth_dev_info& info, uint16_t wanted) {
  const uint32_t limit = max_mtu(info);
  if (wanted <= limit) return wanted;
  // memif states Ethernet's usual limit, but carries buffer chains of any length.
  return is_memif(info) ? static_cast<uint16_t>(limit) : uint16_t{0};
}

/// Refers to the key in `on`: drivers read it when they start.
rte_eth_conf configuration(uint16_t queues, uint16_t mtu, Offloads& on,
                           const rte_eth_dev_info& info) {
  rte_eth_conf conf{};
  conf.rxmode.mtu = mtu;
  conf.rxmode.offloads = on.rx;
  conf.txmode.offloads = on.tx;
  // For RemovalWatch.
  const uint32_t flags = info.dev_flags == nullptr ? 0 : *info.dev_flags;
  conf.intr_conf.rmv = (flags & RTE_ETH_DEV_INTR_RMV) != 0 ? 1 : 0;
  if (queues > 1 && on.rss != 0) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = on.rss;
    if (!on.rss_key.empty()) {
      conf.rx_adv_conf.rss_conf.rss_key = on.rss_key.data();
      conf.rx_adv_conf.rss_conf.rss_key_len = static_cast<uint8_t>(on.rss_key.size());
    }
  }
  return conf;
}

}  // namespace

tl::expected<Port, std::string> Port::open(const Device& device, const PortOptions& options,
                                           std::span<rte_mempool* const> pools) {
  auto port = attach(device);
  if (!port) return port;
  if (auto done = port->configure(options, pools); !done) return tl::unexpected(done.error());
  return port;
}

tl::expected<Port, std::string> Port::attach(const Device& device) {
  return turnpike::attach(device).map([&](uint16_t id) { return Port(id, device); });
}

Done Port::configure(const PortOptions& options, std::span<rte_mempool* const> pools) {
  const CapturedLog log;
  rte_eth_dev_info info{};
  if (const int e = rte_eth_dev_info_get(id_, &info); e != 0) {
    return failed(name_, "report its capabilities", e, log);
  }
  const uint16_t most = std::min(info.max_rx_queues, info.max_tx_queues);
  if (options.queues > most) {
    return tl::unexpected(
        name_ + " has " + std::to_string(most) + (most == 1 ? " queue" : " queues") + ", but " +
        std::to_string(options.queues) +
        " lcores need one each: list fewer lcores, or give the device more queues");
  }
  const uint16_t mtu = fitting_mtu(info, options.mtu);
  if (mtu == 0) {
    return tl::unexpected(name_ + " cannot carry datagrams of " + std::to_string(options.mtu) +
                          " B, at most " + std::to_string(max_mtu(info)) +
                          ": set a smaller mtu of the link");
  }

  const uint32_t buffer = rte_pktmbuf_data_room_size(pools[0]) - RTE_PKTMBUF_HEADROOM;
  driver_ = info.driver_name;
  offloads_ = choose_offloads({.rx = info.rx_offload_capa,
                               .tx = info.tx_offload_capa,
                               .rss = info.flow_type_rss_offloads,
                               .hash_key_size = info.hash_key_size,
                               .reta_size = info.reta_size},
                              {.queues = options.queues,
                               .frame = mtu + frame_overhead(info),
                               .buffer = buffer,
                               .ip_verdicts = options.ip_verdicts,
                               .udp_verdicts = options.udp_verdicts,
                               .chains = options.chains,
                               .moves_buckets = options.moves_buckets});
  const rte_eth_conf conf = configuration(options.queues, mtu, offloads_, info);
  if (const int e = rte_eth_dev_configure(id_, options.queues, options.queues, &conf); e != 0) {
    return failed(name_, "be configured", e, log);
  }
  uint16_t& rx = rx_descriptors_ = options.rx_descriptors;
  uint16_t& tx = tx_descriptors_ = options.tx_descriptors;
  if (const int e = rte_eth_dev_adjust_nb_rx_tx_desc(id_, &rx, &tx); e != 0) {
    return failed(name_, "size its queues", e, log);
  }
  rx_descriptors_ = rx;
  tx_descriptors_ = tx;
  const bool chains = (conf.txmode.offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
  const EthQueue::Traits traits{.chains = chains, .memif = is_memif(info)};
  for (uint16_t q = 0; q < options.queues; ++q) {
    rte_mempool* pool = pools[pools.size() == 1 ? 0 : q];
    rte_eth_rxconf rx_conf = info.default_rxconf;
    rx_conf.offloads = conf.rxmode.offloads;
    // A full ring does not hold up the packets for others in the NIC: see RssSteering::kTableDelay.
    if (offloads_.buckets > 0) rx_conf.rx_drop_en = 1;
    rte_eth_txconf tx_conf = info.default_txconf;
    tx_conf.offloads = conf.txmode.offloads;
    const auto socket = static_cast<unsigned>(rte_eth_dev_socket_id(id_));
    if (const int e = rte_eth_rx_queue_setup(id_, q, rx, socket, &rx_conf, pool); e != 0) {
      return failed(name_, "set up a receive queue", e, log);
    }
    if (const int e = rte_eth_tx_queue_setup(id_, q, tx, socket, &tx_conf); e != 0) {
      return failed(name_, "set up a transmit queue", e, log);
    }
    queues_.push_back(std::make_unique<EthQueue>(id_, q, traits));
  }
  if (follows_) extended_ = ExtendedStats(id_);  // once: it may start many times
  if (!options.promiscuous) return {};
  // A device that receives every frame anyway may not support the call.
  const int e = rte_eth_promiscuous_enable(id_);
  return e == 0 || e == -ENOTSUP ? Done() : failed(name_, "enable promiscuous mode", e, log);
}

Port::Port(Port&& other) noexcept
    : id_(std::exchange(other.id_, kNone)),
      name_(std::move(other.name_)),
      attached_(other.attached_),
      follows_(other.follows_),
      started_(other.started_),
      calls_(other.calls_),
      driver_(std::move(other.driver_)),
      offloads_(std::move(other.offloads_)),
      steering_(other.steering_),
      number_(other.number_),
      rx_descriptors_(other.rx_descriptors_),
      tx_descriptors_(other.tx_descriptors_),
      interface_name_(std::move(other.interface_name_)),
      interface_(other.interface_),
      wanted_(other.wanted_),
      extended_(std::move(other.extended_)),
      watch_(std::move(other.watch_)),
      queues_(std::move(other.queues_)) {}

Port::~Port() {
  if (id_ == kNone) return;
  stop();
  watch_.reset();  // while the port is open
  const CapturedLog log;
  rte_eth_dev_info info{};
  if (rte_eth_dev_info_get(id_, &info) != 0) return;
  // On a kernel interface the flag would outlive this process.
  rte_eth_promiscuous_disable(id_);
  in_turn(info, [this] { rte_eth_dev_close(id_); });
  if (attached_) rte_dev_remove(info.device);
}

Done Port::start() {
  if (started_) return {};
  {
    const CapturedLog log;
    if (const int e = rte_eth_dev_start(id_); e != 0) return failed(name_, "start", e, log);
  }
  started_ = true;
  extended_ = ExtendedStats(id_);
  if (!wanted_) return {};
  const auto set = set_flow_control(id_, *wanted_);
  if (set) return {};
  stop();
  return tl::unexpected(name_ + ": its driver " + driver_ + " cannot set flow control to " +
                        std::string(name_of(*wanted_)) + " (" + set.error() +
                        "): remove flow_control of this NIC, which leaves it as its driver does, "
                        "or use a NIC whose driver can set it (docs/nics.md)");
}

void Port::stop() {
  if (!std::exchange(started_, false)) return;
  const CapturedLog log;
  rte_eth_dev_info info{};
  if (rte_eth_dev_info_get(id_, &info) == 0) in_turn(info, [this] { rte_eth_dev_stop(id_); });
}

bool Port::keep_link() {
  // Calls between attempts. A refused connection costs little. A handshake needs both interrupt
  // threads several times, each of which may wait for a CPU. A rejected handshake looks the same
  // here.
  constexpr unsigned kRefused = 3, kHandshake = 12;
  if (link_up()) {
    calls_ = 0;
    return true;
  }
  if (!follows_) return false;
  if (calls_++ % (started_ ? kHandshake : kRefused) != 0) return false;
  const CapturedLog log;  // the driver logs an absent server as an error
  started_ = reconnect_memif_client(id_) == 0;
  calls_ = 1;
  return false;
}

bool Port::link_up() const {
  rte_eth_link link{};
  const int e = rte_eth_link_get_nowait(id_, &link);
  return e == -ENOTSUP || (e == 0 && link.link_status == RTE_ETH_LINK_UP);
}

uint32_t Port::link_mbps() const {
  rte_eth_link link{};
  const bool up = rte_eth_link_get_nowait(id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
  return up && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN ? link.link_speed : 0;
}

PortStats Port::stats() const {
  rte_eth_stats s{};
  if (rte_eth_stats_get(id_, &s) != 0) return {};
  return {.rx_packets = s.ipackets,
          .rx_bytes = s.ibytes,
          .tx_packets = s.opackets,
          .tx_bytes = s.obytes,
          .rx_missed = s.imissed,
          .rx_no_mbuf = s.rx_nombuf,
          .rx_errors = s.ierrors,
          .tx_errors = s.oerrors,
          .rx_unparked = steering_ != nullptr ? steering_->dropped(number_) : 0};
}

double Port::speed() const {
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(id_, &link) != 0 || link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
    return 0;
  return 1e6 * link.link_speed;
}

std::vector<uint16_t> Port::redirection_table() const {
  rte_eth_dev_info info{};
  if (offloads_.buckets == 0 || rte_eth_dev_info_get(id_, &info) != 0) return {};
  // mlx5's table has its size from the number of queues, which is known now.
  const uint16_t buckets = info.reta_size;
  if (!std::has_single_bit(buckets) || buckets > RssSteering::kMaxBuckets) return {};
  std::vector<rte_eth_rss_reta_entry64> groups((buckets + kGroup - 1) / kGroup);
  for (rte_eth_rss_reta_entry64& g : groups) g.mask = UINT64_MAX;
  if (buckets < kGroup) groups[0].mask = (uint64_t{1} << buckets) - 1;
  if (rte_eth_dev_rss_reta_query(id_, groups.data(), buckets) != 0) return {};
  std::vector<uint16_t> queues(buckets);
  for (size_t b = 0; b < buckets; ++b) queues[b] = groups[b / kGroup].reta[b % kGroup];
  return queues;
}

bool Port::move_buckets(std::span<const uint16_t> buckets, uint16_t queue) {
  rte_eth_dev_info info{};
  if (rte_eth_dev_info_get(id_, &info) != 0) return false;
  std::vector<rte_eth_rss_reta_entry64> groups((info.reta_size + kGroup - 1) / kGroup);
  for (const uint16_t b : buckets) {
    groups[b / kGroup].mask |= uint64_t{1} << (b % kGroup);
    groups[b / kGroup].reta[b % kGroup] = queue;
  }
  return rte_eth_dev_rss_reta_update(id_, groups.data(), info.reta_size) == 0;
}

void Port::steer(RssSteering& steering, unsigned number) {
  steering_ = &steering;
  number_ = number;
  for (const auto& queue : queues_) queue->steer(steering, number);
}

int Port::socket() const { return attached_ ? SOCKET_ID_ANY : rte_eth_dev_socket_id(id_); }

std::array<uint8_t, 6> Port::mac() const {
  rte_ether_addr address{};
  std::array<uint8_t, 6> mac{};
  if (rte_eth_macaddr_get(id_, &address) == 0) std::ranges::copy(address.addr_bytes, mac.begin());
  return mac;
}

std::vector<std::string> start_ports(std::span<Port* const> ports) {
  std::vector<std::string> reasons;
  for (Port* port : ports) {
    if (port->follows()) continue;
    if (const auto started = port->start(); !started) reasons.push_back(started.error());
  }
  return reasons;
}

std::vector<size_t> wait_for_links(std::span<Port* const> ports, const std::function<bool()>& pause,
                                   bool clients_only) {
  for (;;) {
    std::vector<size_t> down;
    for (size_t i = 0; i < ports.size(); ++i)
      if (!ports[i]->keep_link() && (ports[i]->follows() || !clients_only)) down.push_back(i);
    if (down.empty() || !pause()) return down;
  }
}

}  // namespace turnpike
