// SPDX-License-Identifier: BSD-3-Clause
#include "lab/batch/progress.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "common/report/number.h"
#include "common/report/whole_file.h"

namespace turnpike::lab {
namespace {

constexpr double kInterval = 0.5;  // s

std::string time_text(double seconds) {
  const long whole = std::lround(seconds);
  if (whole < 120) return std::to_string(whole) + " s";
  if (whole < 7200) return std::to_string(whole / 60) + " min";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

}  // namespace

Progress::Progress(size_t total, size_t finished, std::string file)
    : total_(total),
      before_(finished),
      file_(std::move(file)),
      watched_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (watched_) std::fprintf(stderr, "\n");
}

std::string Progress::text(size_t total, size_t finished, size_t failed, double left_s) {
  std::string text = std::to_string(finished) + " of " + std::to_string(total) + " runs";
  if (failed > 0) text += ", " + std::to_string(failed) + " failed";
  if (std::isfinite(left_s) && finished + failed < total)
    text += ", about " + time_text(left_s) + " left";
  return text;
}

void Progress::show(size_t finished, size_t failed, bool last) {
  const double elapsed = watch_.seconds();
  if (!last && elapsed < next_) return;
  next_ = elapsed + kInterval;
  const size_t ended = finished + failed - before_;  // since the start
  const double left = ended > 0 ? elapsed / static_cast<double>(ended) *
                                      static_cast<double>(total_ - finished - failed)
                                : std::numeric_limits<double>::quiet_NaN();
  // A full disk must not end the runs.
  const nlohmann::json tree{{"total", total_},
                            {"finished", finished},
                            {"failed", failed},
                            {"elapsed_s", elapsed},
                            {"left_s", ended > 0 ? nlohmann::json(left) : nlohmann::json()}};
  (void)report::write_text(file_, tree.dump() + "\n");
  if (watched_) std::fprintf(stderr, "\r%-70s", text(total_, finished, failed, left).c_str());
}

}  // namespace turnpike::lab
