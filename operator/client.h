// SPDX-License-Identifier: BSD-3-Clause
// Talks to a running router over its control socket.
//
// Example:
//
//     #include <iostream>
//
//     if (auto client = ops::Client::connect({.router = "gate"})) {
//       const auto links = client->ask({{"request", "show"}, {"what", "links"}});
//       if (links) std::cout << links->dump() << '\n';
//     } else {
//       std::cerr << client.error() << '\n';  // says how to reach one
//     }
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "common/config/exit_codes.h"
#include "common/units/units.h"

namespace CLI {
class App;
}

namespace turnpike::ops {

using Json = nlohmann::ordered_json;

/// Which router to talk to.
struct Where {
  std::string router = {};  // its name; empty: the only one that runs
  std::string folder = {};  // of control sockets; empty: the usual one
};

/// Adds --router and --control.
void add_where(CLI::App& app, Where& where);

/// An answer that is an error.
struct Refused {
  std::string code, message;
  Json details = nullptr;
};

/// Prints an error on stderr and returns the code.
ExitCode fail(ExitCode code, const std::string& text);
/// The same for a request that the router refused. Its codes "lost", "failed", "ended" and
/// "too_many_clients" are errors at run time, "bad_configuration" is one of a file, others are
/// errors of the command.
ExitCode fail(const Refused& refused);

/// Sends one request to a router and prints the answer's "text", or with `json` all of it. Waits up
/// to 120 s: building tables of a million routes takes seconds.
ExitCode carry_out(const Where& where, Json request, bool json);

/// One connection. Requests follow one another.
class Client {
 public:
  /// The error says that no such router runs, or which ones do.
  static tl::expected<Client, std::string> connect(const Where& where);
  /// The same; prints the error and returns its exit code.
  static tl::expected<Client, ExitCode> reach(const Where& where);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  /// Sends a request, {"request":NAME,...}, and returns its result. Parts of the answer that come
  /// before go to `on_part`, which returns whether to go on; if not, the result is null. The code
  /// "lost" means that the router closed the connection, or was silent for `timeout`.
  tl::expected<Json, Refused> ask(Json request,
                                  const std::function<bool(const Json& part)>& on_part = {},
                                  Nanos timeout = 10_s);

  /// The same for a request that goes on until it has what it asked for: a signal to end the
  /// program ends it as `on_part` does.
  tl::expected<Json, Refused> follow(Json request,
                                     const std::function<bool(const Json& part)>& on_part);

  /// The router's name.
  [[nodiscard]] const std::string& router() const { return router_; }

 private:
  struct Connection;
  Client(std::unique_ptr<Connection> connection, std::string router);

  std::unique_ptr<Connection> connection_;
  std::string router_;
  uint64_t last_id_ = 0;
};

}  // namespace turnpike::ops
