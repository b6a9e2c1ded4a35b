// SPDX-License-Identifier: BSD-3-Clause
#include "common/metrics/limited_sink.h"

#include <algorithm>
#include <exception>

namespace turnpike::metrics {
namespace {

constexpr std::string_view kOthers = "other messages";

bool names_a_field(std::string_view word) {
  const auto equals = word.find('=');
  return equals != 0 && equals != word.npos &&
         std::ranges::all_of(word.substr(0, equals), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

std::string_view without_fields(std::string_view message) {
  for (size_t at = message.find(' '); at != message.npos; at = message.find(' ', at + 1))
    if (names_a_field(message.substr(at + 1, message.find(' ', at + 1) - at - 1)))
      return message.substr(0, at);
  return message;
}

void LimitedSink::sink_it_(const spdlog::details::log_msg& message) {
  const Time now = last_ = message.time;
  if (now >= next_look_) forget_old(now);
  std::string_view key = without_fields({message.payload.data(), message.payload.size()});
  auto at = known_.find(key);
  if (at == known_.end() && known_.size() >= kMaxKnown) {
    key = kOthers;
    at = known_.find(key);
  }
  if (at == known_.end())
    at = known_.emplace(std::string(key), Count{.begin = now, .logger = {}}).first;
  Count& count = at->second;
  if (now - count.begin >= kPeriod) {
    report(at->first, count, now);
    count = Count{.begin = now, .logger = {}};
  }
  if (count.passed < kBurst) {
    ++count.passed;
    to_->log(message);
    return;
  }
  ++count.suppressed;
  count.level = message.level;
  count.logger.assign(message.logger_name.data(), message.logger_name.size());
}

void LimitedSink::report(const std::string& text, const Count& count, Time now) {
  if (count.suppressed == 0) return;
  const std::string line = text + " suppressed=" + std::to_string(count.suppressed);
  spdlog::details::log_msg message(now, {}, count.logger, count.level, line);
  to_->log(message);
}

// Called by the destructor, when other threads no longer log.
void LimitedSink::report_all() {
  try {
    for (const auto& [text, count] : known_) report(text, count, last_);
    to_->flush();
  } catch (const std::exception&) {
    return;  // the log cannot be written to
  }
}

void LimitedSink::forget_old(Time now) {
  next_look_ = now + kPeriod;
  std::erase_if(known_, [&](const auto& entry) {
    const auto& [text, count] = entry;
    if (now - count.begin < kPeriod) return false;
    report(text, count, now);
    return true;
  });
}

}  // namespace turnpike::metrics
