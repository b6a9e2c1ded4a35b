// SPDX-License-Identifier: BSD-3-Clause
#include "sender/program/lcore_runner.h"

#include <algorithm>

#include <rte_errno.h>
#include <rte_ring_elem.h>

#include "common/dpdk/interrupt_thread.h"
#include "common/dpdk/names.h"
#include "common/dpdk/numa.h"
#include "sender/host/tx_buffer.h"
#include "sender/sizing.h"

namespace turnpike::sender {
namespace {

constexpr unsigned kTickShift = 8;  // ticks of 256 ns: about the duration of one poll

uint16_t data_room(const config::Topology& t, std::span<const uint32_t> hosts) {
  uint32_t largest = 1500;
  for (const uint32_t h : hosts)
    largest = std::max<uint32_t>(largest, t.links[t.hosts[h].link].mtu);
  return Pool::room_for(largest);
}

/// Number of buffers for streams' packets; 0 where these hosts send no streams.
size_t stream_buffers(const config::Topology& t, std::span<const uint32_t> hosts) {
  constexpr size_t kPerPort = 1024 + TxBuffer::kRoom;  // a ring's descriptors and a TX buffer
  const bool any = std::ranges::any_of(t.streams, [&](const config::Stream& s) {
    return std::ranges::find(hosts, s.from) != hosts.end();
  });
  return any ? std::min(size_of(t, hosts).probes + kPerPort * hosts.size(), Sizing::kMaxBuffers)
             : 0;
}

}  // namespace

tl::expected<std::unique_ptr<OutcomeRing>, std::string> OutcomeRing::make() {
  static_assert(sizeof(FlowOutcome) % 4 == 0, "rings copy elements in words");
  rte_ring* ring = rte_ring_create_elem(unique_name("outcomes").c_str(), sizeof(FlowOutcome), kRoom,
                                        SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
  if (ring == nullptr) {
    return tl::unexpected(std::string("no ring for outcomes: ") + rte_strerror(rte_errno));
  }
  return std::unique_ptr<OutcomeRing>(new OutcomeRing(ring));
}

void OutcomeRing::flow_ended(const FlowOutcome& outcome) {
  FlowOutcome copy = outcome;
  if (rte_ring_sp_enqueue_elem(ring_, &copy, sizeof copy) != 0) missed_.add();
}

bool OutcomeRing::take(FlowOutcome& out) {
  return rte_ring_sc_dequeue_elem(ring_, &out, sizeof out) == 0;
}

tl::expected<std::unique_ptr<LcoreRunner>, std::string> LcoreRunner::make(
    const config::Topology& topology, std::vector<uint32_t> hosts, unsigned worker, uint64_t seed,
    const SecretKey& secret) {
  std::vector<std::unique_ptr<OpenPort>> ports;
  std::vector<int> sockets;
  std::string remote;
  ports.reserve(hosts.size());
  sockets.reserve(hosts.size());
  for (const uint32_t host : hosts) {
    auto port = OpenPort::attach(topology, host);
    if (!port) return tl::unexpected(port.error());
    const config::Host& h = topology.hosts[host];
    remote += turnpike::remote_text(topology.links[h.link].name, (*port)->port(), worker);
    sockets.push_back((*port)->port().socket());
    ports.push_back(std::move(*port));
  }
  const int home = numa_node_of(sockets);
  const ScopedNumaAffinity at_home(home);
  const Traces traces(topology);
  const size_t buffers = size_of(topology, hosts, traces).buffers;
  auto pool = Pool::create("sender", {.mbufs = static_cast<uint32_t>(buffers),
                                      .data_room = data_room(topology, hosts),
                                      .socket = home});
  if (!pool) return tl::unexpected(pool.error());
  std::unique_ptr<LcoreRunner> runner(new LcoreRunner(std::move(*pool), std::move(hosts)));
  runner->remote_ = std::move(remote);
  runner->ports_ = std::move(ports);
  auto outcomes = OutcomeRing::make();
  if (!outcomes) return tl::unexpected(outcomes.error());
  runner->outcomes_ = std::move(*outcomes);

  std::vector<PortBinding> bindings;
  bindings.reserve(runner->hosts_.size());
  for (size_t i = 0; i < runner->hosts_.size(); ++i) {
    OpenPort& port = *runner->ports_[i];
    if (auto done = port.configure(topology, runner->pool_.get(), buffers); !done)
      return tl::unexpected(done.error());
    bindings.push_back({runner->hosts_[i], &port.queue()});
  }
  auto sender = Sender::make(topology, {.bindings = bindings,
                                        .pool = runner->pool_.get(),
                                        .outcomes = *runner->outcomes_,
                                        .seed = seed,
                                        .secret = secret,
                                        .tick_shift = kTickShift,
                                        .traces = &traces});
  if (!sender) return tl::unexpected(sender.error());
  runner->sender_ = std::move(*sender);
  if (auto done = runner->make_stream_pool(topology, home); !done)
    return tl::unexpected(done.error());
  return runner;
}

tl::expected<void, std::string> LcoreRunner::make_stream_pool(const config::Topology& topology,
                                                              int socket) {
  const size_t buffers = stream_buffers(topology, hosts_);
  if (buffers == 0) return {};
  auto pool = Pool::create("streams", {.mbufs = static_cast<uint32_t>(buffers),
                                       .data_room = data_room(topology, hosts_),
                                       .socket = socket,
                                       .zeroed = true});
  if (!pool) return tl::unexpected(pool.error());
  stream_pool_.emplace(std::move(*pool));
  for (const auto& host : sender_->hosts()) host->open_loop().send_from(stream_pool_->get());
  return {};
}

LcoreRunner::~LcoreRunner() { park_interrupt_thread(); }

void LcoreRunner::play(const TscClock& clock, const Command& command, SleepLimits limits) {
  IdleSleeper idle_sleeper(limits);
  unsigned restored = 0;  // last value read of restored_
  while (!command.stop.load(std::memory_order_relaxed)) {
    const Nanos now = clock.now();
    if (stalls_.missed(now) > Nanos(0)) sender_->stalled(now);
    busyness_.polled(now, sender_->moved());
    if (restored_.load(std::memory_order_relaxed) != restored) {
      restored = restored_.load(std::memory_order_relaxed);
      sender_->link_restored(now);
    }
    const Nanos next = sender_->poll(now);
    idle_sleeper.after_poll(now, sender_->moved(), next == kNever ? kNever : next - now);
  }
  const Nanos end = clock.now();
  sender_->stop(end);
  Nanos now = end;
  while (!sender_->idle(now) && now < end + kDrain &&
         !command.leave.load(std::memory_order_relaxed)) {
    now = clock.now();
    sender_->poll(now);
  }
  sender_->abandon(now);
}

tl::expected<void, std::string> LcoreRunner::close() {
  park_interrupt_thread();
  sender_.reset();
  unsigned kept = 0;
  for (const auto& port : ports_) kept += port->kept();
  ports_.clear();
  const unsigned lost = pool_.in_use() + (stream_pool_ ? stream_pool_->in_use() : 0);
  if (lost > kept) {
    return tl::unexpected(std::to_string(lost) + " packet buffers were not returned");
  }
  return {};
}

unsigned memory_mb(const config::Topology& t,
                   std::span<const std::vector<uint32_t>> hosts_of_runners) {
  constexpr size_t kBase = 64;          // EAL, ports, rings
  constexpr size_t kPerSinkFlow = 128;  // B in the hash table
  const Traces traces(t);
  size_t bytes = 0;
  for (const auto& hosts : hosts_of_runners) {
    bytes += Pool::memory(size_of(t, hosts, traces).buffers + stream_buffers(t, hosts),
                          data_room(t, hosts));
    bytes += OutcomeRing::kRoom * sizeof(FlowOutcome);
    for (const uint32_t h : hosts)
      bytes += sink_flows(t, h, traces) * kPerSinkFlow + (size_t{4} << 20);
  }
  return static_cast<unsigned>(kBase + bytes / 1'000'000 * 5 / 4);
}

}  // namespace turnpike::sender
