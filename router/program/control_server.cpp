// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/control_server.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include <asio.hpp>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/config/mistakes.h"
#include "common/program/control_path.h"
#include "common/units/printable.h"

namespace turnpike::router {
namespace {

using Stream = asio::local::stream_protocol;

constexpr size_t kMaxClients = 32;
constexpr size_t kMaxCalls = 16;  // open at one client
constexpr size_t kMaxDepth = 16;  // of arrays and objects in a request
constexpr size_t kMaxBacklog = size_t{64} << 20;

/// Whether the process at the other end may give orders: root, and processes of the own user or
/// group.
bool trusted(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  if (peer.uid == 0 || peer.uid == geteuid() || peer.gid == getegid()) return true;
  std::vector<gid_t> groups(64);
  size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) return false;
  groups.resize(size / sizeof(gid_t));
  return std::ranges::find(groups, getegid()) != groups.end();
}

std::string error_of(const std::string& what) { return what + ": " + std::strerror(errno); }

/// Creates the folder, readable by the group alone, if it is missing. A folder of another user
/// could be exchanged under us.
tl::expected<void, std::string> own_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), failed);
  if (mkdir(folder.c_str(), 0750) != 0 && errno != EEXIST)
    return tl::unexpected(error_of("cannot create " + folder.string()));
  struct stat state {};
  if (lstat(folder.c_str(), &state) != 0 || !S_ISDIR(state.st_mode))
    return tl::unexpected(folder.string() + " is not a folder");
  if (state.st_uid != geteuid() && state.st_uid != 0)
    return tl::unexpected(folder.string() + " belongs to another user");
  return {};
}

/// Whether arrays and objects nest deeper than any request needs. nlohmann::json copies and writes
/// nested values by recursion, which a line of brackets would let overflow the stack.
bool too_deep(std::string_view json) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      continue;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

/// Answers a client beyond the limit, or a stranger, whose socket closes next.
void refuse(Stream::socket& socket, const char* code, const std::string& message) {
  const Json line{{"version", kControlVersion},
                  {"id", nullptr},
                  {"error", {{"code", code}, {"message", message}}}};
  const std::string text = line.dump() + "\n";
  (void)!::send(socket.native_handle(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

class Session;

class Server : public ControlServer, public std::enable_shared_from_this<Server> {
 public:
  Server(asio::io_context& loop, std::string path, int lock)
      : path_(std::move(path)), lock_(lock), acceptor_(loop) {}
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  tl::expected<void, std::string> open();
  void handle(const std::string& request, Handler handler) override {
    handlers_[request] = std::move(handler);
  }
  /// The handler of a request; null: there is none.
  [[nodiscard]] const Handler* find(const std::string& request) const {
    const auto at = handlers_.find(request);
    return at != handlers_.end() ? &at->second : nullptr;
  }
  [[nodiscard]] std::string suggestion(const std::string& request) const {
    std::vector<std::string_view> known;
    for (const auto& [name, handler] : handlers_) known.push_back(name);
    return config::suggestion(request, known);
  }

 private:
  void accept();

  std::string path_;
  int lock_;
  Stream::acceptor acceptor_;
  std::map<std::string, Handler> handlers_;
  std::vector<std::weak_ptr<Session>> sessions_;
};

/// One client. Lives as long as it has an operation in progress or an open call.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Stream::socket socket, const Server& server)
      : socket_(std::move(socket)), server_(&server) {}

  void read();
  void send(const Json& line);
  void close();
  void close_after_sending() { last_ = true; }
  [[nodiscard]] bool open() const { return socket_.is_open(); }
  [[nodiscard]] size_t backlog() const { return waiting_.size() + sending_.size(); }
  void ended() { --calls_; }

 private:
  void take(const std::string& line);
  void write();

  Stream::socket socket_;
  const Server* server_;  // null: the server has ended
  std::string received_, sending_, waiting_;
  std::vector<std::weak_ptr<class SessionCall>> open_calls_;
  size_t calls_ = 0;
  bool last_ = false;  // close once everything is sent
};

class SessionCall : public Call {
 public:
  SessionCall(std::shared_ptr<Session> session, Json request)
      : session_(std::move(session)), request_(std::move(request)) {
    if (const auto at = request_.find("id"); at != request_.end()) id_ = *at;
  }
  ~SessionCall() override {
    if (!done_) SessionCall::fail({"unanswered", "the request was given up"});
  }
  SessionCall(const SessionCall&) = delete;
  SessionCall& operator=(const SessionCall&) = delete;

  [[nodiscard]] const Json& request() const override { return request_; }
  void part(Json value) override { reply("result", std::move(value), true); }
  void result(Json value) override { reply("result", std::move(value), false); }
  void fail(Failure failure) override {
    Json error{{"code", failure.code}, {"message", failure.message}};
    if (!failure.details.is_null()) error["details"] = std::move(failure.details);
    reply("error", std::move(error), false);
  }
  [[nodiscard]] bool open() const override { return !done_ && session_->open(); }
  [[nodiscard]] size_t backlog() const override { return session_->backlog(); }
  void on_close(std::function<void()> f) override { on_close_ = std::move(f); }

  void closed() {
    if (done_) return;
    done_ = true;
    if (on_close_) std::exchange(on_close_, nullptr)();
  }

 private:
  void reply(const char* kind, Json value, bool more) {
    if (done_) return;
    Json line{{"version", kControlVersion}, {"id", id_}};
    if (more) line["more"] = true;
    line[kind] = std::move(value);
    session_->send(line);
    if (more) return;
    done_ = true;
    on_close_ = nullptr;
    session_->ended();
  }

  std::shared_ptr<Session> session_;
  Json request_, id_ = nullptr;
  std::function<void()> on_close_;
  bool done_ = false;
};

void Session::read() {
  asio::async_read_until(
      socket_, asio::dynamic_buffer(received_, kMaxControlRequest), '\n',
      [self = shared_from_this()](const asio::error_code& failed, size_t size) {
        if (failed == asio::error::not_found) {
          self->send({{"version", kControlVersion},
                      {"id", nullptr},
                      {"error",
                       {{"code", "too_long"},
                        {"message", "a request has at most " + std::to_string(kMaxControlRequest) +
                                        " bytes"}}}});
          return self->close_after_sending();
        }
        if (failed) return self->close();
        const std::string line = self->received_.substr(0, size - 1);
        self->received_.erase(0, size);
        self->take(line);
        if (self->open()) self->read();
      });
}

void Session::take(const std::string& line) {
  if (server_ == nullptr) return close();
  const bool deep = too_deep(line);
  Json request = deep ? Json() : Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const bool object = request.is_object();
  const auto call = std::make_shared<SessionCall>(shared_from_this(),
                                                  object ? std::move(request) : Json::object());
  ++calls_;
  std::erase_if(open_calls_, [](const auto& c) { return c.expired(); });
  open_calls_.push_back(call);
  const Json& r = call->request();
  if (deep)
    return call->fail({"too_deep", "arrays and objects in a request nest at most " +
                                       std::to_string(kMaxDepth) + " deep"});
  if (!object) return call->fail({"not_json", "a request is a JSON object on one line"});
  if (const auto v = r.find("version"); v == r.end() || *v != kControlVersion)
    return call->fail({"version", "this router speaks version " + std::to_string(kControlVersion) +
                                      R"( of the control protocol: give "version":)" +
                                      std::to_string(kControlVersion)});
  const auto name = r.find("request");
  if (name == r.end() || !name->is_string())
    return call->fail({"no_request", R"(the request has no "request":NAME)"});
  if (calls_ > kMaxCalls)
    return call->fail(
        {"too_many", "a client has at most " + std::to_string(kMaxCalls) + " requests at once"});
  const ControlServer::Handler* handler = server_->find(name->get<std::string>());
  if (handler == nullptr)
    return call->fail({"unknown_request", "there is no request '" +
                                              printable(name->get<std::string>(), 40) + "'" +
                                              server_->suggestion(name->get<std::string>())});
  try {
    (*handler)(call);
  } catch (const nlohmann::json::exception& e) {  // a field of another type
    call->fail({"bad_request", e.what()});
  }
}

void Session::send(const Json& line) {
  if (!open()) return;
  waiting_ += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (backlog() > kMaxBacklog) return close();
  if (sending_.empty()) write();
}

void Session::write() {
  sending_ = std::exchange(waiting_, {});
  asio::async_write(socket_, asio::buffer(sending_),
                    [self = shared_from_this()](const asio::error_code& failed, size_t) {
                      self->sending_.clear();
                      if (failed) return self->close();
                      if (!self->waiting_.empty()) return self->write();
                      if (self->last_) self->close();
                    });
}

void Session::close() {
  server_ = nullptr;
  asio::error_code ignored;
  socket_.close(ignored);
  for (const auto& call : std::exchange(open_calls_, {}))
    if (const auto c = call.lock()) c->closed();
}

tl::expected<void, std::string> Server::open() {
  try {
    acceptor_.open();
    acceptor_.bind(Stream::endpoint(path_));
    if (chmod(path_.c_str(), 0660) != 0) return tl::unexpected(error_of("cannot protect " + path_));
    acceptor_.listen();
  } catch (const asio::system_error& e) {
    return tl::unexpected("cannot listen on " + path_ + ": " + e.code().message());
  }
  accept();
  return {};
}

void Server::accept() {
  acceptor_.async_accept([this](const asio::error_code& failed, Stream::socket socket) {
    if (failed == asio::error::operation_aborted) return;  // *this is gone
    std::erase_if(sessions_, [](const auto& s) { return s.expired(); });
    if (failed) return accept();
    if (!trusted(socket.native_handle())) {
      refuse(socket, "not_trusted", "only root, and the router's user and group, may ask");
    } else if (sessions_.size() >= kMaxClients) {
      refuse(socket, "too_many_clients",
             "the router has " + std::to_string(kMaxClients) + " clients already: end some");
    } else {
      const auto session = std::make_shared<Session>(std::move(socket), *this);
      sessions_.push_back(session);
      session->read();
    }
    accept();
  });
}

Server::~Server() {
  for (const auto& session : sessions_)
    if (const auto s = session.lock()) s->close();
  asio::error_code ignored;
  acceptor_.close(ignored);
  unlink(path_.c_str());
  ::close(lock_);
}

}  // namespace

tl::expected<std::unique_ptr<ControlServer>, std::string> ControlServer::listen(
    asio::io_context& loop, const std::string& path) {
  if (auto folder = own_folder(std::filesystem::path(path).parent_path()); !folder)
    return tl::unexpected(folder.error());
  const std::string lock_path = path + ".lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660);
  if (lock < 0) return tl::unexpected(error_of("cannot open " + lock_path));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock);
    return tl::unexpected("another router serves " + path);
  }
  unlink(path.c_str());
  auto server = std::make_unique<Server>(loop, path, lock);
  if (auto opened = server->open(); !opened) return tl::unexpected(opened.error());
  return server;
}

void ControlServer::answer(
    const std::string& request,
    std::function<tl::expected<Json, Failure>(const Json& request)> handler) {
  handle(request, [handler = std::move(handler)](const std::shared_ptr<Call>& call) {
    auto result = handler(call->request());
    if (result) {
      call->result(std::move(*result));
    } else {
      call->fail(std::move(result.error()));
    }
  });
}

}  // namespace turnpike::router
