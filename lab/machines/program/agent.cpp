// SPDX-License-Identifier: BSD-3-Clause
#include "lab/machines/program/agent.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#include "common/program/unix_time.h"
#include "common/report/run_data.h"
#include "lab/batch/case.h"
#include "lab/child.h"
#include "lab/demo.h"
#include "lab/interrupts.h"
#include "lab/machines/file_parts.h"
#include "lab/machines/paths.h"
#include "lab/program/stopwatch.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kGraceMs = 1000;  // from TERM to KILL at the end

/// A line on standard output; ssh carries it to the coordinator.
void say(const json& message) {
  const std::string text = message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

bool clock_synchronized() {
  timex state{};
  return adjtimex(&state) != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

/// A folder of its own, which is removed at the end.
class WorkFolder {
 public:
  WorkFolder() {
    std::string path = (fs::temp_directory_path() / "turnpike-agent-XXXXXX").string();
    if (mkdtemp(path.data()) != nullptr) path_ = path;
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  /// Empty: it could not be made.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Agent {
 public:
  explicit Agent(std::string folder) : folder_(std::move(folder)) {}

  void run() {
    say({{"hello", TURNPIKE_VERSION}});
    while (!input_.ended() && !interrupted_) turn(-1);
    end();
  }

 private:
  void turn(int timeout_ms) {
    std::vector<pollfd> fds{
        {.fd = interrupts_.fd(), .events = POLLIN, .revents = 0},
        {.fd = input_.ended() ? -1 : STDIN_FILENO, .events = POLLIN, .revents = 0}};
    for (const Child& c : processes_)
      fds.push_back({.fd = c.output(), .events = POLLIN, .revents = 0});  // poll skips -1
    if (poll(fds.data(), fds.size(), timeout_ms) == 0) return;
    while (interrupts_.take()) interrupted_ = true;
    for (const std::string& line : input_.take()) serve(line);
    for (size_t i = 0; i < processes_.size(); ++i) pass_on(i);
  }

  void pass_on(size_t i) {
    Child& child = processes_[i];
    if (child.ended()) return;
    for (const std::string& line : child.take_lines()) say({{"process", i}, {"line", line}});
    if (child.ended()) say({{"ended", i}, {"code", child.exit_code()}, {"log", child.log_tail()}});
  }

  void serve(const std::string& line) {
    try {
      const json request = json::parse(line);
      if (request.contains("clock"))
        say({{"clock", unix_ns()}, {"synchronized", clock_synchronized()}});
      else if (request.contains("put"))
        put(request["put"], request.at("text"));
      else if (request.contains("play"))
        play(request);
      else if (request.contains("start"))
        start_at(request["start"]);
      else if (request.contains("signal"))
        signal(request["signal"], request.at("to") == "sender");
      else if (request.contains("fetch"))
        fetch();
      else
        throw std::runtime_error("unknown request");
    } catch (const std::exception& e) {
      say({{"failed", e.what()}});
    }
  }

  void put(const std::string& path, const std::string& text) {
    if (!is_inner_path(path)) throw std::runtime_error("'" + path + "' is outside the folder");
    const fs::path file = fs::path(folder_) / path;
    fs::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::app | std::ios::binary);
    if (!(out << text).flush()) throw std::runtime_error(file.string() + " cannot be written");
  }

  void play(const json& request) {
    const std::string file = folder_ + "/" + request["play"].get<std::string>();
    const std::vector<std::string> routers = request.at("routers"), hosts = request.at("hosts");
    const std::string self = own_executable();
    const std::string router = find_program(self, "turnpike-router");
    const std::string sender = find_program(self, "turnpike-sender");
    if (router.empty() || sender.empty())
      throw std::runtime_error("no turnpike-" + std::string(router.empty() ? "router" : "sender") +
                               " near " + self);
    for (const std::string& name : routers)
      start({.name = "turnpike-router",
             .argv = {router, file, "--node", name, "--live", "json", "--out",
                      folder_ + "/results/routers/" + name},
             .log = folder_ + "/results/" + name + ".log"},
            request.at("router_options"));
    if (hosts.empty()) return;
    std::string nodes;
    for (const std::string& host : hosts) nodes += (nodes.empty() ? "" : ",") + host;
    start({.name = "turnpike-sender",
           .argv = {sender, file, "--node", nodes, "--live", "json", "--coordinated", "--out",
                    folder_ + "/results/hosts"},
           .log = folder_ + "/results/sender.log",
           .input = true},
          request.at("sender_options"));
    sender_ = processes_.size() - 1;
  }

  void start(Command command, const std::vector<std::string>& options) {
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    fs::create_directories(folder_ + "/results");
    auto child = Child::start(command);
    if (!child) throw std::runtime_error(child.error());
    processes_.push_back(std::move(*child));
  }

  void start_at(int64_t at) {
    if (sender_ < processes_.size()) processes_[sender_].write_line(std::to_string(at));
  }

  void signal(int number, bool sender) {
    for (size_t i = 0; i < processes_.size(); ++i)
      if ((i == sender_) == sender) processes_[i].signal(number);
  }

  void fetch() {
    const fs::path results = fs::path(folder_) / "results";
    std::error_code error;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(results, error))
      if (entry.is_regular_file() && !entry.is_symlink())
        send(entry.path(), entry.path().lexically_relative(results).string());
    say({{"fetched", true}});
  }

  static void send(const fs::path& file, const std::string& name) {
    const auto text = report::read_text(file.string());
    if (!text) throw std::runtime_error(text.error());
    for_each_part(*text, [&](std::string_view part) { say({{"file", name}, {"text", part}}); });
  }

  void end() {
    signal_all(SIGTERM);
    signal_all(SIGINT);  // without waiting for flows and queues
    const auto running = [&] {
      return std::ranges::any_of(processes_, [](const Child& c) { return !c.ended(); });
    };
    const Stopwatch since;
    const auto left_ms = [&] { return kGraceMs - static_cast<int>(since.seconds() * 1e3); };
    while (running() && left_ms() > 0) turn(left_ms());
    signal_all(SIGKILL);
  }

  void signal_all(int number) {
    for (const Child& c : processes_) c.signal(number);
  }

  std::string folder_;
  Interrupts interrupts_;
  LineReader input_{STDIN_FILENO};
  std::vector<Child> processes_;
  size_t sender_ = SIZE_MAX;  // its index; SIZE_MAX: there is none
  bool interrupted_ = false;
};

}  // namespace

ExitCode serve_coordinator() {
  if (isatty(STDIN_FILENO) != 0) {
    std::fprintf(stderr, "turnpike agent: `turnpike run` starts it and speaks to it\n");
    return kExitUsage;
  }
  const WorkFolder folder;
  if (folder.path().empty()) {
    std::fprintf(stderr, "turnpike agent: no temporary folder can be made\n");
    return kExitHostNotReady;
  }
  umask(S_IRWXG | S_IRWXO);  // files may be keys
  fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
  Agent(folder.path()).run();
  return kExitOk;
}

}  // namespace turnpike::lab
