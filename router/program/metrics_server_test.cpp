// SPDX-License-Identifier: BSD-3-Clause
// The server of metrics: requests, and clients that misbehave.
#include "router/program/metrics_server.h"

#include <array>
#include <chrono>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace turnpike::router {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A connection to the server under test.
class Client {
 public:
  explicit Client(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  Client(Client&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
  Client& operator=(Client&&) = delete;
  ~Client() {
    if (fd_ >= 0) close(fd_);
  }

  [[nodiscard]] bool connected() const { return connected_; }
  bool send(std::string_view text) const {
    return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  /// Until the server closes the connection.
  [[nodiscard]] std::string rest() const {
    std::string all;
    std::array<char, 65536> part;
    for (ssize_t n = 0; (n = recv(fd_, part.data(), part.size(), 0)) > 0;)
      all.append(part.data(), static_cast<size_t>(n));
    return all;
  }

 private:
  int fd_;
  bool connected_ = false;
};

/// s; a scraper that waits for a silent client waits as long.
constexpr double kDeadline = MetricsServer::kDeadlineMs * 1e-3;

class Metrics : public ::testing::Test {
 protected:
  Metrics() {
    auto made = MetricsServer::start({.host = "127.0.0.1", .port = 0});
    if (!made) throw std::runtime_error(made.error());
    server = std::move(*made);
  }
  /// The response to one request.
  std::string ask(std::string_view request) {
    const Client client(server->address().port);
    client.send(request);
    return client.rest();
  }
  std::string get(const std::string& accept = "") {
    return ask("GET /metrics HTTP/1.1\r\nHost: x\r\n" +
               (accept.empty() ? "" : "Accept: " + accept + "\r\n") + "\r\n");
  }
  void expect_served() {
    const auto begin = Clock::now();
    const std::string page = get();
    EXPECT_TRUE(page.starts_with("HTTP/1.1 200")) << page;
    EXPECT_LT(seconds_since(begin), kDeadline) << "a scraper must not wait for other clients";
  }
  std::unique_ptr<MetricsServer> server;
};

TEST_F(Metrics, ServesTheFormatThatTheClientAccepts) {
  EXPECT_TRUE(get().starts_with("HTTP/1.1 503")) << "before the first page";
  server->publish("plain 1\n", "open 1\n# EOF\n");
  const std::string plain = get();
  EXPECT_NE(plain.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"), plain.npos)
      << plain;
  EXPECT_TRUE(plain.ends_with("\r\n\r\nplain 1\n")) << plain;
  const std::string open = get("application/openmetrics-text; version=1.0.0,text/plain;q=0.5");
  EXPECT_NE(open.find("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8"),
            open.npos)
      << open;
  EXPECT_TRUE(open.ends_with("\r\n\r\nopen 1\n# EOF\n")) << open;
  server->publish("plain 2\n", "open 2\n");
  EXPECT_TRUE(get().ends_with("plain 2\n"));
  EXPECT_EQ(server->served(), 3U);
}

TEST_F(Metrics, RefusesOtherMethodsAndPaths) {
  server->publish("plain\n", "open\n");
  const struct {
    std::string_view request, status;
  } kRefused[]{
      {"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\nx", "405"},
      {"DELETE /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "405"},
      {"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", "404"},
      {"GET /metricss HTTP/1.1\r\nHost: x\r\n\r\n", "404"},
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "200"},
  };
  for (const auto& r : kRefused)
    EXPECT_EQ(ask(r.request).substr(0, 12), "HTTP/1.1 " + std::string(r.status)) << r.request;
  const std::string head = ask("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  expect_served();
}

TEST_F(Metrics, SurvivesRequestsThatAreNone) {
  server->publish("plain\n", "open\n");
  std::string binary;
  for (int i = 0; i < 4096; ++i) binary += static_cast<char>(i * 37);
  for (const std::string& request :
       {std::string("\r\n\r\n\r\n"), std::string("GET\r\n\r\n"), binary + "\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nX: " + std::string(4 << 20, 'x'),
        "GET /" + std::string(1 << 20, 'a') + " HTTP/1.1\r\n\r\n",
        std::string("GET /metrics HTTP/9.9\r\nHost\r\n\r\n")}) {
    const std::string reply = ask(request);
    EXPECT_FALSE(reply.starts_with("HTTP/1.1 200")) << request.substr(0, 40);
  }
  expect_served();
}

TEST_F(Metrics, SlowClientsEndAtTheDeadline) {
  server->publish(std::string(64 << 20, 'x'), "open\n");  // more than the sockets' buffers
  const auto begin = Clock::now();
  const Client reader(server->address().port);
  reader.send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  const Client sender(server->address().port);
  sender.send("GET /metrics HTTP/1.1\r\n");
  // A header a little at a time.
  while (seconds_since(begin) < 15 && sender.send("X: y\r\n")) usleep(200'000);
  EXPECT_GE(seconds_since(begin), 4.5);
  EXPECT_LT(seconds_since(begin), 8);
  EXPECT_LT(reader.rest().size(), 64U << 20);
  server->publish("plain\n", "open\n");
  expect_served();
  EXPECT_EQ(server->cut(), 2U);
}

TEST_F(Metrics, ServesBesideAThousandSilentConnections) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  setrlimit(RLIMIT_NOFILE, &files);
  server->publish("plain\n", "open\n");
  std::vector<Client> crowd;
  for (int i = 0; i < 1000; ++i) {
    crowd.emplace_back(server->address().port);
    ASSERT_TRUE(crowd.back().connected()) << i;
    crowd.back().send("GET /metrics HTTP/1.1\r\n");
    if (i % 100 == 99) expect_served();
  }
  expect_served();
  crowd.clear();
  expect_served();
  EXPECT_GE(server->cut(), 500U);
}

TEST_F(Metrics, EndsWithConnectionsOpen) {
  server->publish("plain\n", "open\n");
  const Client silent(server->address().port);
  const auto begin = Clock::now();
  server.reset();
  EXPECT_LT(seconds_since(begin), kDeadline);
  EXPECT_EQ(silent.rest(), "");
}

TEST_F(Metrics, SaysWhyItCannotListen) {
  const auto second = MetricsServer::start(server->address());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().find(server->address().text() + ": Address already in use; list its "
                                                           "user with: ss -ltnp"),
            std::string::npos)
      << second.error();
}

TEST(MetricsAddress, ReadsPortsAndNumericAddresses) {
  EXPECT_EQ(MetricsAddress::parse("9478")->text(), "127.0.0.1:9478");
  EXPECT_EQ(MetricsAddress::parse("0.0.0.0:1")->text(), "0.0.0.0:1");
  EXPECT_EQ(MetricsAddress::parse("[::1]:65535")->text(), "[::1]:65535");
  for (const char* text : {"", ":", "x", "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "localhost:1",
                           "::1:5", "[::1]", "1.2.3.4:-1", "1.2.3.4: 1", "9478x", ":9478"}) {
    const auto bad = MetricsAddress::parse(text);
    ASSERT_FALSE(bad) << text;
    EXPECT_NE(bad.error().find("such as 9478, 127.0.0.1:9478 or [::1]:9478"), std::string::npos);
  }
}

}  // namespace
}  // namespace turnpike::router
