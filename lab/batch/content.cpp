// SPDX-License-Identifier: BSD-3-Clause
#include "lab/batch/content.h"

#include <vector>

#include "common/config/resolve.h"
#include "common/report/run_data.h"
#include "lab/batch/content_hash.h"
#include "lab/input_files.h"

namespace turnpike::lab {
namespace {

constexpr double kCountedSlower = 50;  // the factor by which callgrind slows a program

double work_of(const config::Topology& topology) {
  double rate = 0;
  for (const config::Link& link : topology.links)
    for (const config::Direction& d : link.directions)
      if (d.law.protocol != "none") rate += d.rate.count();
  return rate * to_seconds(topology.run.duration);
}

}  // namespace

tl::expected<CaseContent, std::string> content_of(const Case& run) {
  auto loaded = config::load_file(run.file, run.settings);
  if (!loaded) return tl::unexpected(loaded.error().front().text());
  loaded->run.seed = run.seed;
  loaded->run.output.clear();
  CaseContent content{.text = config::resolved_text(*loaded), .work = work_of(*loaded)};
  content.text += "\n" + run.count;
  std::vector<std::string> files = input_files(*loaded);
  if (!run.count.empty()) {
    content.work *= kCountedSlower;
    files.push_back(run.counter);
  }
  for (const std::string& file : files) {
    const auto text = report::read_text(file);
    if (!text) return tl::unexpected(text.error());
    content.text += "\n" + content_hash(*text);
  }
  return content;
}

}  // namespace turnpike::lab
