// SPDX-License-Identifier: BSD-3-Clause
#include "lab/machines/program/coordinator.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <functional>
#include <utility>

#include <nlohmann/json.hpp>
#include <poll.h>

#include "common/config/exit_codes.h"
#include "common/program/unix_time.h"
#include "common/report/run_data.h"
#include "lab/batch/case.h"
#include "lab/input_files.h"
#include "lab/interrupts.h"
#include "lab/live_run.h"
#include "lab/machines/file_parts.h"
#include "lab/machines/machine.h"
#include "lab/machines/results.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kAnswerMs = 20'000;  // for an agent to answer
constexpr int kForever = -1;
constexpr int kRoutersMs = 15'000;  // for routers to end
constexpr int kFetchMs = 120'000;   // for results to come
// Once something has failed: until when all processes are to end, and results to come.
constexpr int kEndedMs = 800, kGatheredMs = 1300;
constexpr int kCloseMs = 400;           // for agents to end
constexpr int kExchanges = 16;          // to measure a clock
constexpr int64_t kLead = 500'000'000;  // ns from the last order to the start

/// The folder below which the topology file and all files that it names lie.
fs::path common_folder(const fs::path& file, const std::vector<std::string>& others) {
  fs::path folder = file.parent_path();
  for (const std::string& other : others) {
    const fs::path path = fs::absolute(other).lexically_normal();
    while (folder.has_relative_path() && *path.lexically_relative(folder).begin() == "..")
      folder = folder.parent_path();
  }
  return folder;
}

class Coordinator {
 public:
  Coordinator(const config::Topology& topology, const MachinesRun& run, std::FILE* out)
      : topology_(topology),
        run_(run),
        results_(topology, run.folder),
        live_(topology, run.style, out) {}

  MachinesEnd run() {
    if (connect() && measure_clocks() && play()) {
      start();
      until([&] { return senders_ended(); }, kForever);
      signal_all(SIGTERM, "routers");
      if (!failure_)
        until([&] { return all_idle(); }, kRoutersMs, [] { return "routers do not end"; });
    }
    if (failure_) end_all();
    fetch();
    close();
    MachinesEnd end{.summary = {}, .failure = failure_};
    if (auto summary = results_.join(machines_, start_s_, failure_ ? failure_->text : ""); !summary)
      end.failure = failure_ ? failure_ : Failure{kExitRuntime, summary.error()};
    else
      end.summary = std::move(*summary);
    return end;
  }

 private:
  using Condition = std::function<bool()>;
  using Clock = std::chrono::steady_clock;

  // --- steps of the run -------------------------------------------------------------------------

  bool connect() {
    for (const Place& place : run_.places) {
      fs::create_directories(machine_folder(run_.folder, place));
      std::vector<std::string> argv;
      if (place.host.empty()) {
        argv = {own_executable(), "agent"};
      } else {
        argv = run_.ssh;
        // A machine that does not answer for three seconds is lost.
        argv.insert(argv.end(), {"-o", "BatchMode=yes", "-o", "ServerAliveInterval=1", "-o",
                                 "ServerAliveCountMax=3", place.host, run_.program, "agent"});
        argv.insert(argv.begin(), "/usr/bin/env");  // finds ssh on the path
      }
      auto child = Child::start({.name = place.name(),
                                 .argv = std::move(argv),
                                 .log = machine_folder(run_.folder, place) + "/agent.log",
                                 .input = true});
      if (!child) return fail({kExitHostNotReady, place.name() + ": " + child.error()});
      machines_.emplace_back(place, std::move(*child));
    }
    const auto answered = [](const Machine& m) { return !m.version.empty(); };
    if (!until([&] { return std::ranges::all_of(machines_, answered); }, kAnswerMs,
               [&] { return "no answer from " + names_without(answered); }))
      return false;
    for (const Machine& m : machines_)
      if (m.version != TURNPIKE_VERSION)
        return fail({kExitHostNotReady, m.place.name() + " has turnpike " + m.version +
                                            ", and this machine " TURNPIKE_VERSION});
    return true;
  }

  bool measure_clocks() {
    for (Machine& m : machines_)
      for (int i = 0; i < kExchanges; ++i) {
        m.asked_clock = unix_ns();
        m.ask({{"clock", true}});
        if (!until([&] { return m.asked_clock == 0; }, kAnswerMs,
                   [&] { return m.place.name() + " does not tell its time"; }))
          return false;
      }
    return true;
  }

  bool play() {
    const fs::path file = fs::absolute(run_.file).lexically_normal();
    std::vector<std::string> files = input_files(topology_);
    const fs::path base = common_folder(file, files);
    files.push_back(file.string());
    std::ranges::sort(files);
    files.erase(std::unique(files.begin(), files.end()), files.end());
    for (const std::string& name : files) {
      const auto text = report::read_text(name);
      if (!text) return fail({kExitHostNotReady, text.error()});
      if (!put(fs::absolute(name).lexically_normal().lexically_relative(base).string(), *text))
        return fail({kExitHostNotReady, name + " is no text in UTF-8"});
    }
    for (Machine& m : machines_) {
      m.playing = true;
      m.ask({{"play", file.lexically_relative(base).string()},
             {"routers", m.place.routers},
             {"hosts", m.place.hosts},
             {"router_options", run_.router_options},
             {"sender_options", run_.sender_options}});
    }
    return until(
        [&] {
          return std::ranges::all_of(machines_, [](const Machine& m) {
            return std::ranges::all_of(m.processes, &RemoteProcess::up);
          });
        },
        kForever);
  }

  /// Gives a file to all agents. False: it cannot be sent.
  bool put(const std::string& name, const std::string& text) {
    try {
      for_each_part(text, [&](std::string_view part) {
        for (Machine& m : machines_) m.ask({{"put", name}, {"text", part}});
      });
    } catch (const json::exception&) {
      return false;
    }
    return true;
  }

  void start() {
    const int64_t at = unix_ns() + kLead;
    start_s_ = static_cast<double>(at) * 1e-9;
    for (Machine& m : machines_)
      if (!m.place.hosts.empty()) m.ask({{"start", at + m.clock.correction()}});
    started_ = true;
  }

  /// Ends all processes: the second signal without waiting for flows and queues. Two of one number
  /// could become one.
  void end_all() {
    for (const int number : {SIGTERM, SIGINT})
      for (const char* to : {"sender", "routers"}) signal_all(number, to);
    settle([&] { return all_idle(); }, failed_at_ + std::chrono::milliseconds(kEndedMs));
  }

  /// Lets the agents remove what they have left.
  void close() {
    closing_ = true;
    for (Machine& m : machines_) m.agent.close_input();
    settle([&] { return std::ranges::all_of(machines_, &Machine::lost); },
           Clock::now() + std::chrono::milliseconds(kCloseMs));
  }

  void fetch() {
    for (Machine& m : machines_)
      if (m.playing) m.ask({{"fetch", true}});
    const auto done = [&] {
      return std::ranges::all_of(
          machines_, [](const Machine& m) { return m.lost() || !m.playing || m.fetched; });
    };
    if (failure_)
      settle(done, failed_at_ + std::chrono::milliseconds(kGatheredMs));
    else
      until(done, kFetchMs, [] { return "results do not come"; });
    for (Machine& m : machines_) m.file.reset();
  }

  // --- waiting ----------------------------------------------------------------------------------

  /// Handles messages until the condition holds, something fails, or the time is over, which
  /// `late` then explains. Returns whether the condition holds.
  bool until(
      const Condition& condition, int ms,
      const std::function<std::string()>& late = [] { return ""; }) {
    const auto end = Clock::now() + std::chrono::milliseconds(ms);
    while (!failure_ && !condition()) {
      const int left = ms == kForever ? kForever : left_until(end);
      if (left == 0) return fail({kExitHostNotReady, late()});
      turn(left);
    }
    return !failure_;
  }

  /// The same until `end`, also once something has failed.
  void settle(const Condition& condition, Clock::time_point end) {
    while (!condition() && left_until(end) > 0) turn(left_until(end));
  }

  static int left_until(Clock::time_point end) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    return std::max(0, static_cast<int>(left.count()));
  }

  void turn(int timeout_ms) {
    std::vector<pollfd> fds{{.fd = interrupts_.fd(), .events = POLLIN, .revents = 0}};
    for (const Machine& m : machines_)
      fds.push_back({.fd = m.agent.output(), .events = POLLIN, .revents = 0});  // poll skips -1
    poll(fds.data(), fds.size(), timeout_ms);
    while (interrupts_.take()) interrupted();
    for (Machine& m : machines_) hear(m);
  }

  void interrupted() {
    if (++interruptions_ == 1 && started_) return signal_all(SIGTERM, "sender");
    fail({kExitRuntime, "interrupted"});
  }

  // --- messages ---------------------------------------------------------------------------------

  void hear(Machine& m) {
    if (m.lost()) return;
    for (const std::string& line : m.agent.take_lines()) {
      const json message = json::parse(line, nullptr, /*allow_exceptions=*/false);
      try {
        take(m, message);
      } catch (const std::exception& e) {
        fail({kExitRuntime, m.place.name() + " says what no agent says: " + line.substr(0, 200)});
      }
    }
    if (!m.lost() || closing_) return;
    const std::string tail = m.agent.log_tail();
    fail({started_ ? kExitRuntime : kExitHostNotReady,
          "the connection to " + m.place.name() + " ended" + (tail.empty() ? "" : ":\n" + tail)});
  }

  void take(Machine& m, const json& message) {
    if (message.contains("hello")) {
      m.version = message["hello"];
    } else if (message.contains("clock")) {
      m.clock.add(std::exchange(m.asked_clock, 0), message["clock"], unix_ns());
      m.synchronized = message.at("synchronized");
    } else if (message.contains("process")) {
      take_line(m, m.processes.at(message["process"].get<size_t>()), message.at("line"));
    } else if (message.contains("ended")) {
      RemoteProcess& p = m.processes.at(message["ended"].get<size_t>());
      p.exit_code = message.at("code").get<int>();
      take_end(p, message.at("log"));
    } else if (message.contains("file")) {
      check(results_.take(m, message["file"], message.at("text")));
    } else if (message.contains("fetched")) {
      check(results_.finish(m));
      m.fetched = true;
    } else {
      fail({kExitHostNotReady, m.place.name() + ": " + message.at("failed").get<std::string>()});
    }
  }

  void check(const tl::expected<void, std::string>& done) {
    if (!done) fail({kExitRuntime, done.error()});
  }

  void take_line(const Machine& m, RemoteProcess& p, const std::string& line) {
    if (!p.sender) {
      p.up = true;
      live_.router_line(line);
      return;
    }
    p.up = p.up || line == "{\"ready\":true}";
    live_.sender_line(line, m.place.hosts);
  }

  void take_end(const RemoteProcess& p, const std::string& log) {
    const int code = *p.exit_code;
    const std::string tail = log.empty() ? "" : "; its log ends:\n" + log;
    if (code > 128)
      fail({kExitRuntime, p.name + " was ended by signal " + std::to_string(code - 128) + tail});
    else if (code != 0)
      fail({code, p.name + " failed with exit code " + std::to_string(code) + tail});
    else if (!p.sender && !senders_ended() && interruptions_ == 0)
      fail({kExitRuntime, p.name + " ended before the senders did" + tail});
  }

  // --- questions --------------------------------------------------------------------------------

  [[nodiscard]] bool senders_ended() const {
    return std::ranges::all_of(machines_, [](const Machine& m) {
      return std::ranges::all_of(
          m.processes, [](const RemoteProcess& p) { return !p.sender || p.exit_code.has_value(); });
    });
  }
  [[nodiscard]] bool all_idle() const { return std::ranges::all_of(machines_, &Machine::idle); }
  template <class Predicate>
  [[nodiscard]] std::string names_without(const Predicate& predicate) const {
    std::string names;
    for (const Machine& m : machines_)
      if (!predicate(m)) names += (names.empty() ? "" : ", ") + m.place.name();
    return names;
  }

  void signal_all(int number, const char* to) {
    for (Machine& m : machines_)
      if (m.playing) m.ask({{"signal", number}, {"to", to}});
  }

  /// The first failure counts. Returns false.
  bool fail(Failure failure) {
    if (failure_) return false;
    failure_ = std::move(failure);
    failed_at_ = Clock::now();
    return false;
  }

  const config::Topology& topology_;
  const MachinesRun& run_;
  MachineResults results_;
  LiveRun live_;
  Interrupts interrupts_;
  std::vector<Machine> machines_;
  std::optional<Failure> failure_;
  Clock::time_point failed_at_;
  double start_s_ = 0;  // UNIX time of this machine
  int interruptions_ = 0;
  bool started_ = false, closing_ = false;
};

}  // namespace

MachinesEnd run_on_machines(const config::Topology& topology, const MachinesRun& run,
                            std::FILE* out) {
  return Coordinator(topology, run, out).run();
}

}  // namespace turnpike::lab
