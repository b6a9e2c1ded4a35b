// SPDX-License-Identifier: BSD-3-Clause
// Limits how often a log repeats a message.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <spdlog/sinks/base_sink.h>

namespace turnpike::metrics {

/// The text before a message's fields, " key=value" at its end: messages that differ only in their
/// fields are repetitions of each other.
std::string_view without_fields(std::string_view message);

/// Passes messages on to another sink, at most kBurst repetitions of one per kPeriod. Reports how
/// many it has left out with the next message after the period, whatever it is, or at the end.
/// Takes the time from the messages. Any thread may log; spdlog's mutex serialises them.
class LimitedSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  static constexpr unsigned kBurst = 10;
  static constexpr auto kPeriod = std::chrono::seconds(10);
  /// Different messages that are counted at a time. Further ones share one count.
  static constexpr size_t kMaxKnown = 256;

  explicit LimitedSink(spdlog::sink_ptr to) : to_(std::move(to)) {}
  LimitedSink(const LimitedSink&) = delete;
  LimitedSink& operator=(const LimitedSink&) = delete;
  ~LimitedSink() override { report_all(); }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override { to_->flush(); }
  void set_pattern_(const std::string& pattern) override { to_->set_pattern(pattern); }
  void set_formatter_(std::unique_ptr<spdlog::formatter> formatter) override {
    to_->set_formatter(std::move(formatter));
  }

 private:
  using Time = spdlog::log_clock::time_point;
  struct Count {
    Time begin;  // of its period
    unsigned passed = 0;
    uint64_t suppressed = 0;
    spdlog::level::level_enum level = spdlog::level::info;
    std::string logger;
  };
  void report(const std::string& text, const Count& count, Time now);
  void report_all();
  void forget_old(Time now);

  spdlog::sink_ptr to_;
  std::map<std::string, Count, std::less<>> known_;  // by message without its fields
  Time last_;
  Time next_look_;  // for periods that have ended
};

}  // namespace turnpike::metrics
