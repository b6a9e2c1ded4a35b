// SPDX-License-Identifier: BSD-3-Clause
// The thread that moves frames between the workers' rings and Linux's interfaces.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <tl/expected.hpp>

#include "router/datapath/punt/punt_path.h"
#include "router/linux/tap.h"

struct rte_mempool;

namespace turnpike::router {

/// No lcore: it sleeps until Linux sends a frame, at most 1 ms, and while packets come 0.25 ms,
/// since workers make no system call that could wake it. Frames that a worker's ring has no room
/// for stay in the interface's own queue, where the kernel counts what it drops.
class PuntThread {
 public:
  struct Link {
    Tap* tap = nullptr;
    unsigned owner = 0;  // the worker that sends its frames, see Router::owners()
  };
  /// `path`, the TAPs and the pool, for frames from Linux, must outlive the thread.
  PuntThread(PuntPath& path, std::vector<Link> links, rte_mempool* pool)
      : path_(path), links_(std::move(links)), pool_(pool) {}
  PuntThread(const PuntThread&) = delete;
  PuntThread& operator=(const PuntThread&) = delete;
  ~PuntThread() { stop(); }

  tl::expected<void, std::string> start();
  /// No more frames from Linux; those for Linux are still written.
  void stop_reading() { reading_.store(false, std::memory_order_relaxed); }
  /// Ends the thread once it has emptied the rings to Linux. Call when the workers have ended.
  void stop();

  /// Set of links, as bits, whose interfaces have been deleted.
  [[nodiscard]] uint64_t gone() const { return gone_.load(std::memory_order_relaxed); }

 private:
  void run();
  bool read_frames(size_t link);
  unsigned write_packets();
  void forget(size_t link);

  PuntPath& path_;
  std::vector<Link> links_;
  rte_mempool* pool_;
  File epoll_;
  std::thread thread_;
  std::atomic<bool> reading_{true}, ending_{false};
  std::atomic<uint64_t> gone_{0};
};

}  // namespace turnpike::router
