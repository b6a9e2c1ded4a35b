// SPDX-License-Identifier: BSD-3-Clause
#include "lab/machines/results.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "common/report/csv.h"
#include "common/report/number.h"
#include "common/report/run_data.h"
#include "lab/machines/paths.h"
#include "lab/report.h"
#include "lab/router_folders.h"
#include "sender/results/merge.h"
#include "sender/results/result_files.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void add_facts(const Machine& m, std::map<std::string, std::string>& facts) {
  std::string nodes;
  for (const auto* names : {&m.place.routers, &m.place.hosts})
    for (const std::string& name : *names) nodes += (nodes.empty() ? "" : ", ") + name;
  facts["machine " + m.place.name()] = nodes;
  if (!m.place.host.empty())
    facts["clock of " + m.place.name()] =
        m.clock.text() + (m.synchronized ? "; its kernel calls it synchronized"
                                         : "; its kernel does not call it synchronized");
}

/// links.csv with its column of UNIX times moved by that time.
std::string moved(const report::Csv& csv, double seconds) {
  std::string out = report::csv_line(csv.columns());
  for (size_t row = 0; row < csv.rows(); ++row) {
    std::vector<std::string> fields;
    for (const std::string& column : csv.columns())
      fields.push_back(column == "unix_s" ? report::fixed(csv.number(row, column) + seconds, 6)
                                          : std::string(csv.text(row, column)));
    out += report::csv_line(fields);
  }
  return out;
}

}  // namespace

std::string machine_folder(const std::string& folder, const Place& place) {
  return folder + "/machines/" + place.name();
}

std::string MachineResults::folder_of(const std::string& router) const {
  const auto at = std::ranges::find(topology_.routers, router, &config::Router::name);
  return router_folder(topology_, *at, folder_);
}

tl::expected<void, std::string> MachineResults::take(Machine& m, const std::string& name,
                                                     const std::string& text) {
  if (!is_inner_path(name)) throw std::runtime_error(name + " is outside the folder");
  if (name == "hosts/record.jsonl") {
    m.record += text;
    return {};
  }
  if (name != m.file_name) {
    if (auto done = finish(m); !done) return done;
    fs::path path = fs::path(machine_folder(folder_, m.place)) / name;
    for (const std::string& router : m.place.routers)
      if (const std::string prefix = "routers/" + router + "/"; name.starts_with(prefix))
        path = fs::path(folder_of(router)) / name.substr(prefix.size());
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    auto file = report::WholeFile::open(path.string());
    if (!file) return tl::unexpected(file.error());
    m.file.emplace(std::move(*file));
    m.file_name = name;
  }
  m.file->write(text);
  return {};
}

tl::expected<void, std::string> MachineResults::finish(Machine& m) {
  m.file_name.clear();
  if (!m.file) return {};
  auto done = m.file->finish();
  m.file.reset();
  return done;
}

// A router's times are of its machine's clock, which may differ from this one's.
void MachineResults::correct_times(const Machine& m) const {
  if (m.clock.correction() == 0) return;
  for (const std::string& router : m.place.routers) {
    const std::string path = folder_of(router) + "/links.csv";
    const auto text = report::read_text(path);
    if (!text) continue;
    // If this fails, the report shows these links' times by the other machine's clock.
    [[maybe_unused]] const auto written = report::write_text(
        path, moved(report::Csv::parse(*text), -static_cast<double>(m.clock.correction()) * 1e-9));
  }
}

tl::expected<json, std::string> MachineResults::join(std::span<const Machine> machines,
                                                     double start_s,
                                                     const std::string& failure) const {
  std::vector<sender::RecordedRun> runs;
  for (const Machine& m : machines) {
    if (m.record.empty()) continue;
    auto run = sender::read_record(m.record, topology_, folder_);
    if (!run) return tl::unexpected(m.place.name() + ": " + run.error());
    runs.push_back(std::move(*run));
  }
  if (runs.empty()) return json();
  sender::RecordedRun all = sender::merge(topology_, runs, folder_);
  all.end.unix_s = start_s;
  for (const Machine& m : machines) {
    add_facts(m, all.end.facts);
    correct_times(m);
  }
  if (!failure.empty()) all.end.facts["failure"] = failure.substr(0, failure.find('\n'));
  return sender::write_results(topology_, all.record, all.end, folder_).and_then([&] {
    gather_links(topology_, folder_);
    return finish_report(folder_);
  });
}

}  // namespace turnpike::lab
