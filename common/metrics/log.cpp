// SPDX-License-Identifier: BSD-3-Clause
#include "common/metrics/log.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/metrics/limited_sink.h"

namespace turnpike::metrics {
namespace {

/// "<4>": the priority of a line (sd-daemon(3), syslog(3)).
class Priority : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    // trace, debug, info, warning, error, critical, off.
    constexpr std::array<char, 7> kPriorities{'7', '7', '6', '4', '3', '2', '7'};
    const std::array<char, 3> text{'<', kPriorities[static_cast<size_t>(message.level)], '>'};
    out.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<Priority>();
  }
};

std::unique_ptr<spdlog::formatter> formatter_for(int fd) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  if (is_journal(fd)) {
    formatter->add_flag<Priority>('*').set_pattern("%*%v");
  } else {
    formatter->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %n %^%l%$ %v");
  }
  return formatter;
}

void append_value(std::string& out, std::string_view value) {
  const auto plain = [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '\\' && c != '=' && c != 0x7f;
  };
  if (!value.empty() && std::ranges::all_of(value, plain)) {
    out += value;
    return;
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f) {
      out.append("\\x").append(1, kDigits[byte / 16]).append(1, kDigits[byte % 16]);
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

}  // namespace

bool is_journal(int fd) {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || fstat(fd, &status) != 0) return false;
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) == stream;
}

std::string fields(std::initializer_list<Field> all) {
  std::string out;
  for (const Field& f : all) {
    out.append(" ").append(f.name).append("=");
    append_value(out, f.value);
  }
  return out;
}

tl::expected<void, std::string> set_up_log(std::string_view program, std::string_view level) {
  // spdlog reads every unknown name as "off".
  const auto parsed = spdlog::level::from_str(std::string(level));
  if (parsed == spdlog::level::off && level != "off")
    return tl::unexpected("'" + std::string(level) + "' is not a log level: use one of " +
                          std::string(kLogLevels));
  auto logger = std::make_shared<spdlog::logger>(
      std::string(program),
      std::make_shared<LimitedSink>(std::make_shared<spdlog::sinks::stderr_color_sink_mt>()));
  logger->set_level(parsed);
  logger->set_formatter(formatter_for(STDERR_FILENO));
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

}  // namespace turnpike::metrics
