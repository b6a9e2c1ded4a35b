// SPDX-License-Identifier: BSD-3-Clause
// Serves the router's page of metrics over HTTP, from a thread of its own.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <tl/expected.hpp>

#include "common/metrics/counter.h"
#include "common/metrics/prometheus.h"

struct MHD_Connection;
struct MHD_Daemon;
struct MHD_Response;

namespace turnpike::router {

/// The address of --metrics: "9478", "127.0.0.1:9478" or "[::1]:9478". A port alone is of
/// 127.0.0.1; port 0 is any free one.
struct MetricsAddress {
  std::string host;
  uint16_t port = 0;

  /// The error says which forms there are.
  static tl::expected<MetricsAddress, std::string> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
};

/// Clients are not trusted. Each connection carries one request and lasts at most kDeadline, from
/// its acceptance to the last byte of the response, so that slow senders and slow readers end. A
/// connection beyond kMaxOpen ends the oldest one: connections that send nothing cannot keep a new
/// one waiting. A request has kRequestBytes at most. Neither the control thread nor an lcore ever
/// waits for a client.
class MetricsServer {
 public:
  static constexpr int kDeadlineMs = 5000;
  static constexpr size_t kMaxOpen = 128;
  static constexpr size_t kRequestBytes = 16 << 10;

  /// Listens and starts the thread. The error names the address and the reason.
  static tl::expected<std::unique_ptr<MetricsServer>, std::string> start(
      const MetricsAddress& address);
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;
  /// Ends the thread and all connections.
  ~MetricsServer();

  /// Replaces the pages. Until the first call, requests get status 503. Control thread.
  void publish(std::string prometheus, std::string open_metrics);

  /// With the port in use.
  [[nodiscard]] const MetricsAddress& address() const { return address_; }
  /// Pages sent; requests answered by an error; connections ended without an answer. Any thread.
  [[nodiscard]] uint64_t served() const { return served_.read(); }
  [[nodiscard]] uint64_t refused() const { return refused_.read(); }
  [[nodiscard]] uint64_t cut() const { return cut_.read(); }

  /// For the C callbacks of libmicrohttpd, on the server's thread.
  int respond(MHD_Connection* connection, std::string_view url, std::string_view method);
  void* opened(MHD_Connection* connection);
  void closed(void* context);

 private:
  struct Open {
    int fd = -1;
    int64_t since = 0;  // ms
    bool cut = false;
  };
  using Pages = std::array<std::string, 2>;  // by TextFormat

  MetricsServer() = default;
  void run();
  void cut_overdue(int64_t now);
  void cut(Open& connection);

  MetricsAddress address_;
  MHD_Daemon* daemon_ = nullptr;
  int wake_ = -1;  // eventfd: the thread is to end
  std::atomic<bool> ending_{false};
  std::mutex mutex_;  // of pages_; held to copy a pointer
  std::shared_ptr<const Pages> pages_;
  std::list<Open> open_;  // in order of their acceptance
  metrics::Counter served_, refused_, cut_;
  std::thread thread_;
};

}  // namespace turnpike::router
