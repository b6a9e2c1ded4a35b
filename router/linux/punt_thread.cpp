// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/punt_thread.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <pthread.h>
#include <rte_mbuf.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#include "common/program/idle_sleeper.h"
#include "common/wire/layers.h"

namespace turnpike::router {

namespace {

// Longest sleeps: while packets come, and after kBusyPolls polls without any.
constexpr std::chrono::microseconds kBusySleep{250}, kIdleSleep{1000};
constexpr unsigned kBusyPolls = 200;
constexpr unsigned kFrames = 32;  // of an interface or a worker in turn
constexpr size_t kSegments = 64;  // of a packet: 64 KB in buffers of 2 KB take half of them

/// Writes a packet as one frame. False: Linux did not take it.
bool write_frame(int fd, const rte_mbuf* m) {
  std::array<iovec, kSegments> pieces;
  size_t n = 0;
  for (const rte_mbuf* s = m; s != nullptr; s = s->next) {
    if (n == pieces.size()) return false;
    pieces[n++] = {rte_pktmbuf_mtod(s, void*), s->data_len};
  }
  ssize_t written = 0;
  do written = writev(fd, pieces.data(), static_cast<int>(n));
  while (written < 0 && errno == EINTR);
  return written == static_cast<ssize_t>(m->pkt_len);
}

}  // namespace

tl::expected<void, std::string> PuntThread::start() {
  epoll_ = File(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return tl::unexpected(std::string("epoll: ") + std::strerror(errno));
  for (size_t l = 0; l < links_.size(); ++l) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = l;
    if (epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, links_[l].tap->fd(), &event) != 0)
      return tl::unexpected("interface '" + links_[l].tap->name() +
                            "': epoll: " + std::strerror(errno));
  }
  thread_ = std::thread([this] { run(); });
  return {};
}

void PuntThread::stop() {
  stop_reading();
  ending_.store(true);
  if (thread_.joinable()) thread_.join();
}

void PuntThread::run() {
  pthread_setname_np(pthread_self(), "punt");
  wake_without_delay();
  bool listening = true, more = false;
  unsigned quiet = kBusyPolls;  // polls since the last packet
  std::array<epoll_event, 32> events;
  while (!ending_.load(std::memory_order_relaxed)) {
    if (listening && !reading_.load(std::memory_order_relaxed)) {
      for (const Link& link : links_)
        epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, link.tap->fd(), nullptr);
      listening = false;
    }
    const std::chrono::nanoseconds sleep = more                 ? std::chrono::nanoseconds(0)
                                           : quiet < kBusyPolls ? kBusySleep
                                                                : kIdleSleep;
    const timespec longest{.tv_sec = 0, .tv_nsec = sleep.count()};
    const int n = epoll_pwait2(epoll_.fd(), events.data(), static_cast<int>(events.size()),
                               &longest, nullptr);
    bool moved = false;
    for (int i = 0; i < n; ++i) {
      const auto link = static_cast<size_t>(events[static_cast<size_t>(i)].data.u64);
      if ((events[static_cast<size_t>(i)].events & (EPOLLERR | EPOLLHUP)) != 0) {
        forget(link);
      } else {
        moved = read_frames(link) || moved;
      }
    }
    const unsigned written = write_packets();
    more = written >= kFrames;
    quiet = moved || written > 0 ? 0 : quiet + 1;
    // Frames are waiting, and neither a ring nor the pool has room: does not spin until it has.
    if (n > 0 && !moved && !more) std::this_thread::sleep_for(kIdleSleep);
  }
  while (write_packets() > 0) {
  }
}

// Returns whether it read any.
bool PuntThread::read_frames(size_t link) {
  PacketRing& ring = *path_.shard(links_[link].owner).from_linux;
  const unsigned room = std::min(ring.free_slots(), kFrames);
  for (unsigned i = 0; i < room; ++i) {
    rte_mbuf* m = rte_pktmbuf_alloc(pool_);
    if (m == nullptr) return i > 0;
    const uint16_t space = rte_pktmbuf_tailroom(m);
    uint8_t beyond = 0;  // a longer frame ends here
    const std::array<iovec, 2> pieces{{{rte_pktmbuf_mtod(m, void*), space}, {&beyond, 1}}};
    const ssize_t n = readv(links_[link].tap->fd(), pieces.data(), pieces.size());
    if (n < 0) {
      const int error = errno;
      rte_pktmbuf_free(m);
      if (error == EBADFD) forget(link);
      return i > 0;
    }
    if (n < static_cast<ssize_t>(wire::kEthernetSize) || n > space) {
      path_.count_unusable();
      rte_pktmbuf_free(m);
      continue;
    }
    m->data_len = static_cast<uint16_t>(n);
    m->pkt_len = m->data_len;
    m->port = static_cast<uint16_t>(link);
    ring.push(m);
  }
  return room > 0;
}

// Returns how many it took.
unsigned PuntThread::write_packets() {
  unsigned taken = 0;
  for (unsigned w = 0; w < path_.workers(); ++w) {
    std::array<rte_mbuf*, kFrames> packets;
    const unsigned n = path_.shard(w).to_linux->pop(packets);
    taken += n;
    for (unsigned i = 0; i < n; ++i) {
      const size_t link = packets[i]->port;
      if (!write_frame(links_[link].tap->fd(), packets[i])) path_.count_refused(link);
      path_.count_taken(1);
      rte_pktmbuf_free(packets[i]);
    }
  }
  return taken;
}

// A deleted interface would wake epoll at once for ever.
void PuntThread::forget(size_t link) {
  epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, links_[link].tap->fd(), nullptr);
  gone_.fetch_or(uint64_t{1} << link, std::memory_order_relaxed);
}

}  // namespace turnpike::router
