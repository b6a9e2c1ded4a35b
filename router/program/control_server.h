// SPDX-License-Identifier: BSD-3-Clause
// Serves requests on a Unix socket: a line of JSON each, answered by lines of JSON.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

namespace asio {
class io_context;
}

namespace turnpike::router {

using Json = nlohmann::ordered_json;

/// Why a request failed: a word for programs, a sentence for people, and more if there is more.
struct Failure {
  std::string code;  // such as "unknown_link"
  std::string message;
  Json details = nullptr;  // null: none
};

/// One request, until it is answered or its client goes away. Used by the loop's thread.
class Call {
 public:
  virtual ~Call() = default;

  /// The request line, an object.
  [[nodiscard]] virtual const Json& request() const = 0;
  /// Sends a part of the answer; others follow ("more": true).
  virtual void part(Json value) = 0;
  /// Answers the request. Nothing may follow.
  virtual void result(Json value) = 0;
  virtual void fail(Failure failure) = 0;
  /// Whether the client waits for the answer.
  [[nodiscard]] virtual bool open() const = 0;
  /// B of answers that the client has not read yet. A streaming request should pause above 1 MB;
  /// above 64 MB the connection is closed.
  [[nodiscard]] virtual size_t backlog() const = 0;
  /// Calls `f` when the client goes away before the answer.
  virtual void on_close(std::function<void()> f) = 0;
};

/// Requests: {"version":1,"id":N,"request":NAME,...}. Answers: {"version":1,"id":N,"result":{...}},
/// or {"version":1,"id":N,"error":{"code":..,"message":..}}. Accepts peers with the process's user
/// or group, and root.
class ControlServer {
 public:
  using Handler = std::function<void(const std::shared_ptr<Call>&)>;

  /// Listens on `path`, whose folder is created if necessary. Holds `path`.lock, so that a socket
  /// left by a killed router is replaced and that of a running one is not. The error says why it
  /// cannot listen. `loop` must outlive the server.
  static tl::expected<std::unique_ptr<ControlServer>, std::string> listen(asio::io_context& loop,
                                                                          const std::string& path);
  virtual ~ControlServer() = default;

  /// Calls `handler` for requests of this name.
  virtual void handle(const std::string& request, Handler handler) = 0;
  /// The same for a request that is answered at once.
  void answer(const std::string& request,
              std::function<tl::expected<Json, Failure>(const Json& request)> handler);
};

}  // namespace turnpike::router
