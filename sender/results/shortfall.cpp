// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/shortfall.h"

#include <map>

namespace turnpike::sender {
namespace {

struct Counts {
  size_t reset = 0, given_up = 0;
  size_t open = 0, unanswered = 0;  // at the end of the run
};

void append(std::string& text, size_t count, const std::string& what) {
  if (count == 0) return;
  text += (text.empty() ? "" : ", ") + std::to_string(count) + (count == 1 ? " flow " : " flows ") +
          what;
}

}  // namespace

std::string shortfall_text(const config::Topology& topology, const Record& record) {
  std::map<uint32_t, Counts> hosts;
  for (const FlowOutcome& f : record.outcomes) {
    Counts& c = hosts[f.host];
    c.reset += f.ended == FlowEnd::kReset ? 1 : 0;
    c.given_up += f.ended == FlowEnd::kGivenUp ? 1 : 0;
    c.open += f.ended == FlowEnd::kOpen ? 1 : 0;
    c.unanswered += f.ended == FlowEnd::kUnanswered ? 1 : 0;
  }
  std::string text;
  for (const auto& [host, c] : hosts) {
    const std::string of = "of " + topology.hosts[host].name + " ";
    append(text, c.reset, of + "reset by the receiver");
    append(text, c.given_up, of + "given up after too many time-outs");
    if (c.open == 0) append(text, c.unanswered, of + "unanswered at the end");
  }
  return text;
}

}  // namespace turnpike::sender
