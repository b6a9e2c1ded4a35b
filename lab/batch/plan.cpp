// SPDX-License-Identifier: BSD-3-Clause
#include "lab/batch/plan.h"

#include <filesystem>
#include <utility>

#include "common/report/run_data.h"
#include "common/report/whole_file.h"
#include "lab/batch/content.h"
#include "lab/batch/content_hash.h"
#include "lab/batch/own_build.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

tl::unexpected<std::string> no_plan(const std::string& why) { return tl::unexpected(why); }

json to_json(const Task& task) {
  json settings = json::array();
  for (const config::Setting& s : task.run.settings) settings.push_back({s.path, s.value});
  return {{"name", task.name},     {"file", task.run.file},   {"settings", settings},
          {"seed", task.run.seed}, {"count", task.run.count}, {"counter", task.run.counter},
          {"key", task.key}};
}

Task from_json(const json& tree) {
  Task task{.name = tree.at("name"),
            .run = {.file = tree.at("file"),
                    .seed = tree.at("seed"),
                    .count = tree.at("count"),
                    .counter = tree.at("counter")},
            .key = tree.at("key")};
  for (const json& s : tree.at("settings")) task.run.settings.push_back({s.at(0), s.at(1)});
  return task;
}

}  // namespace

Plan::Plan(std::string folder, json purpose)
    : folder_(std::move(folder)), program_(own_build()), purpose_(std::move(purpose)) {}

tl::expected<void, std::string> Plan::add(std::string name, Case run) {
  std::error_code error;
  run.file = fs::absolute(run.file, error).string();
  if (!run.count.empty()) run.counter = fs::absolute(run.counter, error).string();
  run.folder.clear();
  const auto content = content_of(run);
  if (!content) return no_plan(content.error());
  std::string key = content_hash(program_ + content->text);
  tasks_.push_back({std::move(name), std::move(run), std::move(key)});
  return {};
}

tl::expected<void, std::string> Plan::write() const {
  if (auto prepared = report::prepare_folder(folder_); !prepared) return prepared;
  std::error_code error;
  for (const char* part : {"results", "failed", "running"}) {
    fs::create_directories(fs::path(folder_) / part, error);
    if (error) return no_plan(folder_ + "/" + part + ": " + error.message());
  }
  json tasks = json::array();
  for (const Task& task : tasks_) tasks.push_back(to_json(task));
  const json tree{{"version", TURNPIKE_VERSION},
                  {"program", program_},
                  {"purpose", purpose_},
                  {"tasks", std::move(tasks)}};
  return report::write_text(folder_ + "/plan.json", tree.dump(1) + "\n");
}

tl::expected<Plan, std::string> Plan::read(const std::string& folder) {
  const std::string path = folder + "/plan.json";
  const auto text = report::read_text(path);
  if (!text) return no_plan(text.error());
  try {
    const json tree = json::parse(*text);
    Plan plan(folder, tree.at("purpose"));
    if (tree.at("program") != plan.program_)
      return no_plan(path + ": made by another build of turnpike (" +
                     tree.at("version").get<std::string>() + "): make the plan anew");
    for (const json& task : tree.at("tasks")) plan.tasks_.push_back(from_json(task));
    return plan;
  } catch (const json::exception& e) {
    return no_plan(path + ": " + e.what());
  }
}

std::string Plan::result(size_t task) const { return folder_ + "/results/" + tasks_[task].key; }

std::string Plan::failed_log(size_t task) const {
  return folder_ + "/failed/" + tasks_[task].key + ".log";
}

std::string Plan::running(size_t task) const { return own_->path() + "/" + tasks_[task].key; }

bool Plan::finished(size_t task) const {
  std::error_code error;
  return fs::exists(result(task) + "/summary.json", error);
}

std::string Plan::failure(size_t task) const {
  const auto text = report::read_text(failed_log(task));
  return text ? *text : "";
}

std::vector<size_t> Plan::unfinished() const {
  std::vector<size_t> all;
  for (size_t i = 0; i < tasks_.size(); ++i)
    if (!finished(i)) all.push_back(i);
  return all;
}

tl::expected<Command, std::string> Plan::begin(size_t task) {
  if (!own_) {
    auto made = RunFolder::make(folder_ + "/running");
    if (!made) return no_plan(made.error());
    own_ = std::move(*made);
  }
  std::error_code ignored;
  fs::remove_all(running(task), ignored);
  fs::remove(failed_log(task), ignored);
  Case run = tasks_[task].run;
  run.folder = running(task);
  return command_for(run, own_executable());
}

void Plan::abandon(size_t task) const {
  std::error_code ignored;
  if (own_) fs::remove_all(running(task), ignored);
}

// rename() refuses a folder with files in the place of another one: the task was run twice, with
// the same result. Files of a result that has lost its summary make room.
std::string Plan::end(size_t task, const std::string& why) const {
  std::error_code error;
  std::string reason = why;
  if (reason.empty() && own_) {
    if (!finished(task)) fs::remove_all(result(task), error);
    fs::rename(running(task), result(task), error);
    if (error && !finished(task)) reason = result(task) + ": " + error.message();
  }
  if (own_) fs::remove_all(running(task), error);
  if (!reason.empty()) (void)report::write_text(failed_log(task), reason + "\n");
  return reason;
}

}  // namespace turnpike::lab
