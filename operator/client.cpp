// SPDX-License-Identifier: BSD-3-Clause
#include "operator/client.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <asio.hpp>

#include "common/program/control_path.h"
#include "common/program/signals.h"

namespace turnpike::ops {

namespace {

namespace fs = std::filesystem;

/// The routers with a socket in the folder, by name.
std::vector<std::string> routers_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ".sock") names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

}  // namespace

struct Client::Connection {
  asio::local::stream_protocol::iostream stream;
};

Client::Client(std::unique_ptr<Connection> connection, std::string router)
    : connection_(std::move(connection)), router_(std::move(router)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

void add_where(CLI::App& app, Where& where) {
  app.add_option("--router", where.router, "the router, if several run on this machine")
      ->type_name("NAME");
  app.add_option("--control", where.folder, "folder of the control sockets")->type_name("DIR");
}

ExitCode fail(ExitCode code, const std::string& text) {
  std::fprintf(stderr, "turnpike: %s\n", text.c_str());
  return code;
}

ExitCode fail(const Refused& refused) {
  const std::string& why = refused.code;
  if (why == "bad_configuration") return fail(kExitBadConfiguration, refused.message);
  const bool at_run_time =
      why == "lost" || why == "failed" || why == "ended" || why == "too_many_clients";
  return fail(at_run_time ? kExitRuntime : kExitUsage, refused.message);
}

ExitCode carry_out(const Where& where, Json request, bool json) {
  auto client = Client::reach(where);
  if (!client) return client.error();
  const auto answer = client->ask(std::move(request), {}, 120_s);
  if (!answer) {
    if (json) std::puts(answer.error().details.dump(2).c_str());
    return fail(answer.error());
  }
  std::fputs(json ? (answer->dump(2) + "\n").c_str() : answer->value("text", std::string()).c_str(),
             stdout);
  return kExitOk;
}

tl::expected<Client, ExitCode> Client::reach(const Where& where) {
  auto client = connect(where);
  if (!client) return tl::unexpected(fail(kExitHostNotReady, client.error()));
  return std::move(*client);
}

tl::expected<Client, std::string> Client::connect(const Where& where) {
  const fs::path folder = control_folder(where.folder);
  const std::vector<std::string> running = routers_in(folder);
  std::string name = where.router;
  if (name.empty() && running.size() > 1)
    return tl::unexpected("select a router with --router: " + joined(running));
  if (name.empty() && running.empty())
    return tl::unexpected("no router runs here: there is no control socket in " + folder.string() +
                          " (another folder: --control DIR)");
  if (name.empty()) name = running.front();
  auto connection = std::make_unique<Connection>();
  connection->stream.connect(
      asio::local::stream_protocol::endpoint(control_path(folder, name).string()));
  if (connection->stream) return Client(std::move(connection), name);
  std::string why = "cannot reach router " + name + ": " + connection->stream.error().message();
  if (connection->stream.error() == asio::error::connection_refused)
    why =
        "router " + name + " does not run any more: it left " + control_path(folder, name).string();
  else if (connection->stream.error() == asio::error::no_permission ||
           connection->stream.error() == asio::error::access_denied)
    why += "; run this as root or as a member of the router's group";
  else if (std::ranges::find(running, name) == running.end())
    why = "there is no router '" + name + "' in " + folder.string() +
          (running.empty() ? "" : ", but " + joined(running));
  return tl::unexpected(why);
}

tl::expected<Json, Refused> Client::ask(Json request,
                                        const std::function<bool(const Json& part)>& on_part,
                                        Nanos timeout) {
  auto& stream = connection_->stream;
  request["version"] = kControlVersion;
  request["id"] = ++last_id_;
  stream.expires_after(std::chrono::nanoseconds(timeout.count()));
  stream << request.dump() << '\n' << std::flush;
  stream.clear();  // a router that closes the connection says why first
  std::string line;
  while (std::getline(stream, line)) {
    Json answer = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!answer.is_object())
      return tl::unexpected(Refused{"not_json", "the router's answer is not JSON: " + line});
    const auto id = answer.find("id");
    if (id != answer.end() && !id->is_null() && *id != last_id_) continue;  // of an older request
    if (const auto error = answer.find("error"); error != answer.end())
      return tl::unexpected(Refused{error->value("code", ""), error->value("message", ""),
                                    error->value("details", Json(nullptr))});
    Json result = answer.value("result", Json(nullptr));
    if (!answer.value("more", false)) return result;
    if (on_part && !on_part(result)) return Json(nullptr);
    stream.expires_after(std::chrono::nanoseconds(timeout.count()));
  }
  const std::string text = stream.error() == asio::error::timed_out
                               ? " does not answer"
                               : " closed the connection (" + stream.error().message() + ")";
  return tl::unexpected(Refused{"lost", "router " + router_ + text});
}

tl::expected<Json, Refused> Client::follow(Json request,
                                           const std::function<bool(const Json& part)>& on_part) {
  handle_signals();
  auto answer = ask(std::move(request),
                    [&](const Json& part) { return on_part(part) && end_requests() == 0; });
  if (!answer && end_requests() != 0) return Json(nullptr);
  return answer;
}

}  // namespace turnpike::ops
