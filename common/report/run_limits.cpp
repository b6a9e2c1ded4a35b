// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/run_limits.h"

#include <vector>

#include <nlohmann/json.hpp>

#include "common/report/number.h"
#include "common/report/run_data.h"

namespace turnpike::report {

std::string limits_text(const nlohmann::json& summary) {
  std::vector<std::string> parts;
  const auto add = [&](double count, const std::string& before, const std::string& after) {
    if (count > 0) parts.push_back(before + fixed(count, 0) + after);
  };
  const double delayed = number_at(summary, {"flows", "delayed"});
  const double missing = number_at(summary, {"flows", "not_started"});
  const std::string of = " of " + fixed(number_at(summary, {"flows", "asked_for"}), 0);
  add(missing, "", of + " flows never started, because the flow table was full");
  add(delayed, "", of + " flows started late, when the flow table had a free entry");
  add(number_at(summary, {"limits", "out_of_records"}), "packets waited ",
      " times for a record of packets in flight");
  add(number_at(summary, {"limits", "out_of_buffers"}), "packets waited ", " times for a buffer");
  add(number_at(summary, {"limits", "refused_packets"}), "receivers refused ",
      " packets because their SACK state was full");
  if (parts.empty()) return "";
  std::string text = "NOT PLAYED AS ASKED: ";
  for (size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? "; " : "") + parts[i];
  return text + "\n";
}

}  // namespace turnpike::report
