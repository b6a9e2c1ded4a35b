// SPDX-License-Identifier: BSD-3-Clause
#include "lab/batch/engine.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <poll.h>

#include "common/report/whole_file.h"
#include "lab/batch/jobs.h"
#include "lab/batch/progress.h"
#include "lab/child.h"
#include "lab/interrupts.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnv = "/usr/bin/env";  // finds a program on the path
constexpr const char* kInterrupted = "interrupted";
constexpr size_t kMaxArray = 1000;  // tasks of one array: Slurm's MaxArraySize is 1001 by default
constexpr unsigned kMaxRounds = 3;  // in which tasks are submitted that were lost with their node
constexpr int kPeriodMs = 500;      // between two looks at the results

tl::unexpected<std::string> no_run(const std::string& why) { return tl::unexpected(why); }

std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string engine_log(const Plan& plan) { return plan.folder() + "/engine.log"; }

/// Runs a program of the engine; returns its output. The error has the end of its log.
tl::expected<std::string, std::string> call(const Plan& plan, std::vector<std::string> argv) {
  const std::string name = argv.front();
  argv.insert(argv.begin(), kEnv);
  const Command command{.name = name, .argv = std::move(argv), .log = engine_log(plan)};
  JobEnd ended;
  if (!run_jobs({&command, 1}, 1, [&](const JobEnd& end) { ended = end; }))
    return no_run(kInterrupted);
  if (!ended.why.empty()) return no_run(command.name + " " + ended.why);
  return ended.output;
}

/// Counts results, and shows the progress.
class Watch {
 public:
  explicit Watch(const Plan& plan)
      : plan_(plan),
        total_(plan.tasks().size()),
        progress_(total_, total_ - plan.unfinished().size(), plan.folder() + "/progress.json") {}

  void look(bool last = false) {
    size_t finished = 0, failed = 0;
    for (size_t i = 0; i < total_; ++i) {
      if (plan_.finished(i))
        ++finished;
      else
        failed += !plan_.failure(i).empty();
    }
    progress_.show(finished, failed, last);
  }

 private:
  const Plan& plan_;
  size_t total_;
  Progress progress_;
};

/// Writes the numbers of tasks to a file, a line each; returns its path.
tl::expected<std::string, std::string> list_tasks(const Plan& plan,
                                                  const std::vector<size_t>& tasks,
                                                  const std::string& name) {
  std::string text;
  for (const size_t task : tasks) text += std::to_string(task) + "\n";
  const std::string path = fs::absolute(plan.folder()).string() + "/" + name;
  if (auto done = report::write_text(path, text); !done) return no_run(done.error());
  return path;
}

/// This program on one task, up to the task's number.
std::vector<std::string> task_command(const Plan& plan, const std::string& verb) {
  return {own_executable(), verb, "--plan", fs::absolute(plan.folder()).string(), "--task"};
}

tl::expected<void, std::string> run_local(Plan& plan, const Engine& engine) {
  const std::vector<size_t> tasks = plan.unfinished();
  std::vector<Command> commands;
  for (const size_t task : tasks) {
    auto command = plan.begin(task);
    if (!command) return no_run(command.error());
    commands.push_back(std::move(*command));
  }
  Progress progress(plan.tasks().size(), plan.tasks().size() - tasks.size(),
                    plan.folder() + "/progress.json");
  size_t finished = plan.tasks().size() - tasks.size(), failed = 0;
  const bool whole = run_jobs(commands, engine.jobs, [&](const JobEnd& end) {
    ++(plan.end(tasks[end.job], end.why).empty() ? finished : failed);
    progress.show(finished, failed, finished + failed == plan.tasks().size());
  });
  if (whole) return {};
  for (const size_t task : tasks) plan.abandon(task);
  return no_run(kInterrupted);
}

tl::expected<void, std::string> run_ssh(const Plan& plan, const Engine& engine,
                                        const std::string& verb) {
  auto list = list_tasks(plan, plan.unfinished(), "todo.txt");
  if (!list) return no_run(list.error());
  std::error_code error;
  std::vector<std::string> argv{"parallel",   "--will-cite",
                                "--sshlogin", engine.hosts,
                                "--jobs",     std::to_string(engine.jobs),
                                "--retries",  std::to_string(kMaxRounds),
                                "--workdir",  fs::current_path(error).string(),
                                "--joblog",   plan.folder() + "/parallel.log"};
  argv.insert(argv.end(), engine.options.begin(), engine.options.end());
  for (const std::string& word : task_command(plan, verb)) argv.push_back(shell_word(word));
  argv.insert(argv.end(), {"{}", "::::", *list});
  argv.insert(argv.begin(), kEnv);
  const Command command{.name = "parallel", .argv = std::move(argv), .log = engine_log(plan)};
  Watch watch(plan);
  const Interrupts interrupts;
  auto child = Child::start(command);
  if (!child) return no_run(child.error());
  while (!child->ended()) {
    std::array<pollfd, 2> fds{{{.fd = interrupts.fd(), .events = POLLIN, .revents = 0},
                               {.fd = child->output(), .events = POLLIN, .revents = 0}}};
    poll(fds.data(), fds.size(), kPeriodMs);
    if (interrupts.take()) return no_run(kInterrupted);
    child->take_lines();
    watch.look();
  }
  watch.look(true);
  // Its exit code is the number of tasks that failed.
  const auto silent = [&](size_t task) { return plan.failure(task).empty(); };
  if (child->exit_code() != 0 && std::ranges::any_of(plan.unfinished(), silent))
    return no_run("parallel failed with exit code " + std::to_string(child->exit_code()) + ":\n" +
                  child->log_tail());
  return {};
}

/// Job arrays of Slurm's for one list of tasks.
class Arrays {
 public:
  Arrays(const Plan& plan, const Engine& engine, std::string verb)
      : plan_(plan), engine_(engine), verb_(std::move(verb)) {}

  tl::expected<void, std::string> submit(const std::vector<size_t>& tasks) {
    jobs_.clear();
    for (size_t first = 0; first < tasks.size(); first += kMaxArray) {
      const size_t count = std::min(kMaxArray, tasks.size() - first);
      const std::vector<size_t> part(tasks.begin() + static_cast<ptrdiff_t>(first),
                                     tasks.begin() + static_cast<ptrdiff_t>(first + count));
      const std::string name = "todo-" + std::to_string(++lists_) + ".txt";
      auto list = list_tasks(plan_, part, name);
      if (!list) return no_run(list.error());
      std::string script = "exec";
      for (const std::string& word : task_command(plan_, verb_)) script += " " + shell_word(word);
      script += " $(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" " + shell_word(*list) + ")";
      std::vector<std::string> argv{
          "sbatch",
          "--parsable",
          "--requeue",
          "--job-name=turnpike",
          "--output=" + fs::absolute(plan_.folder()).string() + "/failed/slurm-%A-%a.log",
          "--array=0-" + std::to_string(count - 1)};
      argv.insert(argv.end(), engine_.options.begin(), engine_.options.end());
      argv.push_back("--wrap=" + script);
      auto said = call(plan_, std::move(argv));
      if (!said) return no_run(said.error());
      jobs_ += (jobs_.empty() ? "" : ",") + said->substr(0, said->find_first_of(";\n"));
    }
    return {};
  }
  /// Whether any of them waits or runs. Slurm forgets jobs some minutes after their end.
  tl::expected<bool, std::string> busy() {
    const auto said = call(plan_, {"squeue", "--noheader", "--format=%i", "--jobs=" + jobs_});
    if (said) return said->find_first_not_of(" \n") != std::string::npos;
    if (said.error().find("Invalid job id") != std::string::npos) return false;
    return no_run(said.error());
  }
  void cancel() { (void)call(plan_, {"scancel", jobs_}); }

 private:
  const Plan& plan_;
  const Engine& engine_;
  std::string verb_;
  std::string jobs_;  // ids, with commas
  unsigned lists_ = 0;
};

// Tasks that vanish with their node are requeued by Slurm; those that are lost all the same are
// submitted again. A controller that does not answer for a while does not end the sweep.
tl::expected<void, std::string> run_slurm(const Plan& plan, const Engine& engine,
                                          const std::string& verb) {
  constexpr unsigned kMaxSilent = 120;  // polls
  Arrays arrays(plan, engine, verb);
  Watch watch(plan);
  const Interrupts interrupts;
  for (unsigned round = 0; round < kMaxRounds; ++round) {
    std::vector<size_t> tasks = plan.unfinished();
    if (round > 0) std::erase_if(tasks, [&](size_t task) { return !plan.failure(task).empty(); });
    if (tasks.empty()) break;
    if (auto submitted = arrays.submit(tasks); !submitted) return submitted;
    for (unsigned silent = 0;;) {
      pollfd fd{.fd = interrupts.fd(), .events = POLLIN, .revents = 0};
      poll(&fd, 1, kPeriodMs);
      const auto busy = arrays.busy();
      if (interrupts.take() || (!busy && busy.error() == kInterrupted)) {
        arrays.cancel();
        return no_run(kInterrupted);
      }
      watch.look();
      silent = busy ? 0 : silent + 1;
      if (silent > kMaxSilent) return no_run(busy.error());
      if (busy && !*busy) break;
    }
  }
  watch.look(true);
  return {};
}

}  // namespace

std::optional<Engine> Engine::parse(std::string_view text) {
  constexpr std::string_view kSshPrefix = "ssh:";
  if (text == "local") return Engine{};
  if (text == "slurm") return Engine{.kind = Kind::kSlurm};
  if (text.starts_with(kSshPrefix) && text.size() > kSshPrefix.size())
    return Engine{.kind = Kind::kSsh, .hosts = std::string(text.substr(kSshPrefix.size()))};
  return std::nullopt;
}

PlanOutcome outcome_of(const Plan& plan) {
  PlanOutcome all;
  all.total = plan.tasks().size();
  all.failed = plan.unfinished();
  all.finished = all.total - all.failed.size();
  return all;
}

std::string run_task(Plan& plan, size_t task) {
  if (plan.finished(task)) return "";
  auto command = plan.begin(task);
  if (!command) return plan.end(task, command.error());
  std::string why = kInterrupted;
  if (run_jobs({&*command, 1}, 1, [&](const JobEnd& end) { why = end.why; }))
    return plan.end(task, why);
  plan.abandon(task);
  return why;
}

tl::expected<PlanOutcome, std::string> run_plan(Plan& plan, const Engine& engine,
                                                const std::string& verb) {
  tl::expected<void, std::string> done;
  switch (engine.kind) {
    case Engine::Kind::kLocal:
      done = run_local(plan, engine);
      break;
    case Engine::Kind::kSlurm:
      done = run_slurm(plan, engine, verb);
      break;
    case Engine::Kind::kSsh:
      done = run_ssh(plan, engine, verb);
      break;
  }
  if (!done) return no_run(done.error());
  return outcome_of(plan);
}

}  // namespace turnpike::lab
