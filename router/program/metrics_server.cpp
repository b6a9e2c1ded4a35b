// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/metrics_server.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <utility>

#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace turnpike::router {
namespace {

constexpr int kNice = 19;  // of the thread: lcores and the control thread come first
constexpr int kBacklog = 128;

int64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

MHD_Result answer(void* server, MHD_Connection* connection, const char* url, const char* method,
                  const char* /*version*/, const char* /*upload*/, size_t* /*upload_size*/,
                  void** /*request*/) {
  return static_cast<MHD_Result>(
      static_cast<MetricsServer*>(server)->respond(connection, url, method));
}

void notify(void* server, MHD_Connection* connection, void** context,
            MHD_ConnectionNotificationCode code) {
  auto& s = *static_cast<MetricsServer*>(server);
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    *context = s.opened(connection);
  } else {
    s.closed(*context);
  }
}

/// A listening socket, or -1 with errno.
int listen_at(MetricsAddress& address) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found) !=
      0) {
    errno = EADDRNOTAVAIL;
    return -1;
  }
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  // Without SO_REUSEADDR a restart would fail while old connections are in TIME_WAIT.
  const bool done = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                    bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, kBacklog) == 0 &&
                    getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) == 0;
  const int error = errno;
  freeaddrinfo(found);
  if (!done) {
    if (fd >= 0) close(fd);
    errno = error;
    return -1;
  }
  address.port =
      ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                        : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
  return fd;
}

MHD_Response* text_response(std::string_view text) {
  return MHD_create_response_from_buffer(text.size(), const_cast<char*>(text.data()),
                                         MHD_RESPMEM_PERSISTENT);
}

}  // namespace

tl::expected<MetricsAddress, std::string> MetricsAddress::parse(std::string_view text) {
  const auto bad = [&] {
    return tl::unexpected("'" + std::string(text) +
                          "' is not a port or ADDRESS:PORT, such as 9478, 127.0.0.1:9478 or "
                          "[::1]:9478");
  };
  MetricsAddress out{.host = "127.0.0.1"};
  std::string_view port = text;
  if (const auto colon = text.rfind(':'); colon != text.npos) {
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
      host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != host.npos) {
      return bad();
    }
    out.host = host;
    port = text.substr(colon + 1);
    addrinfo hints{}, *found = nullptr;
    hints.ai_flags = AI_NUMERICHOST;
    if (out.host.empty() || getaddrinfo(out.host.c_str(), nullptr, &hints, &found) != 0)
      return bad();
    freeaddrinfo(found);
  }
  const auto read = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (read.ec != std::errc() || read.ptr != port.data() + port.size()) return bad();
  return out;
}

std::string MetricsAddress::text() const {
  const bool six = host.find(':') != host.npos;
  return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

tl::expected<std::unique_ptr<MetricsServer>, std::string> MetricsServer::start(
    const MetricsAddress& address) {
  std::unique_ptr<MetricsServer> s(new MetricsServer);
  s->address_ = address;
  const int fd = listen_at(s->address_);
  if (fd < 0)
    return tl::unexpected(
        "cannot serve metrics at " + address.text() + ": " + std::strerror(errno) +
        (errno == EADDRINUSE
             ? "; list its user with: ss -ltnp 'sport = :" + std::to_string(address.port) + "'"
             : ""));
  s->wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  // MHD's own limit leaves room for connections that are being ended.
  s->daemon_ = MHD_start_daemon(MHD_USE_EPOLL, 0, nullptr, nullptr, answer, s.get(),
                                MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                                static_cast<unsigned>(2 * kMaxOpen),
                                MHD_OPTION_CONNECTION_MEMORY_LIMIT, kRequestBytes,
                                MHD_OPTION_NOTIFY_CONNECTION, notify, s.get(), MHD_OPTION_END);
  if (s->daemon_ == nullptr || s->wake_ < 0) {
    if (s->daemon_ == nullptr) close(fd);  // otherwise MHD_stop_daemon() closes it
    return tl::unexpected("cannot serve metrics at " + address.text() +
                          ": no file descriptors or memory left");
  }
  s->thread_ = std::thread([server = s.get()] { server->run(); });
  return s;
}

MetricsServer::~MetricsServer() {
  ending_.store(true);
  if (thread_.joinable()) {
    eventfd_write(wake_, 1);
    thread_.join();
  }
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
  if (wake_ >= 0) close(wake_);
}

void MetricsServer::publish(std::string prometheus, std::string open_metrics) {
  auto pages = std::make_shared<const Pages>(Pages{std::move(prometheus), std::move(open_metrics)});
  const std::lock_guard lock(mutex_);
  pages_.swap(pages);
}

void MetricsServer::run() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
  const int ready = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  while (!ending_.load()) {
    MHD_UNSIGNED_LONG_LONG wait = 1000;
    if (MHD_UNSIGNED_LONG_LONG asked = 0; MHD_get_timeout(daemon_, &asked) == MHD_YES)
      wait = std::min(wait, asked);
    std::array<pollfd, 2> files{{{ready, POLLIN, 0}, {wake_, POLLIN, 0}}};
    ::poll(files.data(), files.size(), static_cast<int>(wait));
    MHD_run(daemon_);
    cut_overdue(now_ms());
  }
}

void MetricsServer::cut_overdue(int64_t now) {
  for (Open& o : open_) {
    if (now - o.since < kDeadlineMs) return;
    cut(o);
  }
}

// MHD finds the end of the connection at its next run and closes it.
void MetricsServer::cut(Open& connection) {
  if (!connection.cut) shutdown(connection.fd, SHUT_RDWR);
  connection.cut = true;
}

void* MetricsServer::opened(MHD_Connection* connection) {
  const int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
  if (open_.size() >= kMaxOpen) {
    const auto oldest = std::ranges::find(open_, false, &Open::cut);
    if (oldest != open_.end()) cut(*oldest);
  }
  open_.push_back({.fd = fd, .since = now_ms()});
  return &open_.back();
}

void MetricsServer::closed(void* context) {
  open_.remove_if([&](const Open& o) {
    if (&o != context) return false;
    if (o.cut) cut_.add();
    return true;
  });
}

int MetricsServer::respond(MHD_Connection* connection, std::string_view url,
                           std::string_view method) {
  unsigned status = MHD_HTTP_OK;
  MHD_Response* response = nullptr;
  std::string_view type = "text/plain; charset=utf-8";
  std::shared_ptr<const Pages> pages;
  {
    const std::lock_guard lock(mutex_);
    pages = pages_;
  }
  const auto refuse = [&](unsigned code, std::string_view text) {
    status = code;
    response = text_response(text);
  };
  if (method != "GET" && method != "HEAD") {
    refuse(MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD are answered.\n");
    if (response != nullptr) MHD_add_response_header(response, "Allow", "GET, HEAD");
  } else if (url == "/") {
    type = "text/html; charset=utf-8";
    response = text_response("<title>turnpike-router</title><a href=\"/metrics\">Metrics</a>\n");
  } else if (url != "/metrics") {
    refuse(MHD_HTTP_NOT_FOUND, "The metrics are at /metrics.\n");
  } else if (!pages) {
    refuse(MHD_HTTP_SERVICE_UNAVAILABLE, "The router is starting.\n");
  } else {
    const char* accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
    const auto format = metrics::accepted_format(accept == nullptr ? "" : accept);
    type = metrics::content_type(format);
    const std::string& page = (*pages)[static_cast<size_t>(format)];
    // The response owns a reference to the page, which publish() may replace meanwhile.
    response = MHD_create_response_from_buffer_with_free_callback_cls(
        page.size(), const_cast<char*>(page.data()),
        [](void* owner) { delete static_cast<std::shared_ptr<const Pages>*>(owner); },
        new std::shared_ptr<const Pages>(pages));
  }
  if (response == nullptr) return MHD_NO;
  (status == MHD_HTTP_OK ? served_ : refused_).add();
  MHD_add_response_header(response, "Content-Type", std::string(type).c_str());
  MHD_add_response_header(response, "Connection", "close");
  const MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

}  // namespace turnpike::router
