// SPDX-License-Identifier: BSD-3-Clause
// `turnpike support`: one archive of what helps to find a fault.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/config/load.h"
#include "common/program/version.h"
#include "common/report/whole_file.h"
#include "operator/client.h"
#include "operator/doctor/doctor.h"
#include "operator/support/mask.h"
#include "operator/verbs.h"

extern char** environ;

namespace turnpike::ops {
namespace {

namespace fs = std::filesystem;

struct SupportOptions {
  std::string file, out = "turnpike-support.tar.gz";
  Where where;
  bool mask = false;
};

/// A folder that only its owner can read, removed at the end.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::string path = fs::temp_directory_path() / "turnpike-support-XXXXXX";
    if (mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~PrivateFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Passes a program's output to `take`. Its exit status; -1: it does not exist. No shell: the words
/// are its arguments.
template <class F>
int run(std::vector<std::string> words, bool with_errors, F&& take) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  if (with_errors) posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  char buffer[65536];
  for (ssize_t n = 0; (n = ::read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
    take(std::string_view(buffer, static_cast<size_t>(n)));
  close(pipe_ends[0]);
  int status = 0;
  if (failed != 0 || waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string output_of(std::vector<std::string> words) {
  std::string text;
  constexpr size_t kMax = 4 << 20;  // B
  const std::string name = words.front();
  if (run(std::move(words), true, [&](std::string_view more) {
        if (text.size() < kMax) text += more;
      }) < 0)
    return name + ": not here\n";
  return text;
}

std::string text_of_file(const std::string& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// The archive's files in a folder.
class Collection {
 public:
  Collection(fs::path folder, bool mask) : folder_(std::move(folder)), masks_(mask) {
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) == 0) mask_ = Mask(name);
  }
  void add(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << (masks_ ? mask_(text) : text);
  }

 private:
  fs::path folder_;
  bool masks_;
  Mask mask_;
};

/// Everything that `show` answers. The error: why there is no answer, which is in the archive, too.
tl::expected<void, std::string> add_router(const Where& where, Collection& all) {
  auto client = Client::connect(where);
  if (!client) {
    all.add("router.txt", client.error() + "\n");
    return tl::unexpected(client.error());
  }
  const auto show = [&](const Json& request, const std::string& name) {
    const auto answer = client->ask(request);
    const std::string text = answer ? answer->dump(2) : answer.error().message;
    all.add("show-" + name + ".json", text + "\n");
    return answer ? *answer : Json::object();
  };
  for (const char* what : {"version", "ports", "lcores", "drops", "customers", "tunnels", "routes",
                           "neighbours", "linux", "config"})
    show({{"request", "show"}, {"what", what}}, what);
  unsigned n = 0;
  for (const Json& link :
       show({{"request", "show"}, {"what", "links"}}, "links").value("links", Json::array()))
    show({{"request", "show"}, {"what", "law"}, {"link", link.value("link", "")}},
         "law-" + std::to_string(n++));
  return {};
}

void add_machine(const std::string& file, const Where& where, Collection& all) {
  Wanted wanted;
  if (!file.empty()) {
    all.add("topology.yaml", text_of_file(file));
    if (const config::Loaded loaded = config::load_file(file); loaded) wanted = wanted_of(*loaded);
  }
  const Machine machine;
  const Findings findings = examine(machine, wanted);
  all.add("doctor.json", Json{{"findings", findings_json(findings)},
                              {"drivers", drivers_json(machine, wanted)},
                              {"router", router_facts(where)}}
                                 .dump(2) +
                             "\n");
  all.add("version.txt", version_line("turnpike") + "\n");
  for (const char* path :
       {"/proc/cpuinfo", "/proc/meminfo", "/proc/cmdline", "/proc/self/cgroup", "/etc/os-release"})
    all.add(fs::path(path).filename().string() + ".txt", text_of_file(path));
  all.add("uname.txt", output_of({"uname", "-a"}));
  all.add("ip-link.txt", output_of({"ip", "-s", "link"}));
  all.add("ip-addr.txt", output_of({"ip", "addr"}));
  all.add("ip-route.txt", output_of({"ip", "route"}) + output_of({"ip", "-6", "route"}));
  all.add("log.txt",
          output_of({"journalctl", "--no-pager", "-n", "1000", "-u", "turnpike-router@*"}));
}

ExitCode support(const SupportOptions& options) {
  umask(077);  // the archive is its owner's
  const PrivateFolder folder;
  const fs::path inside = folder.path() / "turnpike-support";
  std::error_code failed;
  if (folder.path().empty() || !fs::create_directory(inside, failed))
    return fail(kExitRuntime, "cannot make a folder in " + fs::temp_directory_path().string());
  Collection all(inside, options.mask);
  const auto shown = add_router(options.where, all);
  if (!shown && !options.where.router.empty()) return fail(kExitHostNotReady, shown.error());
  add_machine(options.file, options.where, all);
  auto archive = report::WholeFile::open(options.out);
  if (!archive) return fail(kExitRuntime, archive.error());
  const int status =
      run({"tar", "-cz", "--owner=0", "--group=0", "-C", folder.path(), "turnpike-support"}, false,
          [&](std::string_view bytes) { archive->write(bytes); });
  if (status != 0) return fail(kExitRuntime, "tar failed: no archive was written");
  if (const auto finished = archive->finish(); !finished)
    return fail(kExitRuntime, finished.error());
  std::printf("%s%s\n", options.out.c_str(),
              options.mask ? "" : ": it names your addresses; --mask leaves them out");
  if (!shown)
    std::fprintf(stderr, "turnpike: the archive has no router's state: %s\n",
                 shown.error().c_str());
  return kExitOk;
}

}  // namespace

void add_support(CLI::App& app, ExitCode& code) {
  CLI::App* verb = app.add_subcommand(
      "support", "write an archive of a router's state, its log and this machine's, for a report");
  const auto o = std::make_shared<SupportOptions>();
  verb->add_option("FILE", o->file, "the router's topology, to be put into the archive")
      ->check(CLI::ExistingFile);
  verb->add_option("-o,--out", o->out, "archive to write (default: turnpike-support.tar.gz)")
      ->type_name("FILE");
  verb->add_flag("--mask", o->mask, "replace addresses, this machine's name and secrets");
  add_where(*verb, o->where);
  verb->callback([o, &code] { code = support(*o); });
}

}  // namespace turnpike::ops
