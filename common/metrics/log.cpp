// SPDX-License-Identifier: BSD-3-Clause
#include "common/metrics/log.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/metrics/limited_sink.h"
#include "common/metrics/nonblocking_output.h"

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

/// Standard error. Lines that its reader does not take in time are left out; the next line that it
/// takes follows a count of them.
class LogOutput {
 public:
  LogOutput() {
    file_ = fopencookie(this, "w",
                        {.read = nullptr,
                         .write = [](void* self, const char* text, size_t length) -> ssize_t {
                           static_cast<LogOutput*>(self)->write({text, length});
                           return static_cast<ssize_t>(length);
                         },
                         .seek = nullptr,
                         .close = nullptr});
    if (file_ == nullptr) throw std::bad_alloc();
    setvbuf(file_, nullptr, _IOFBF, kBuffer);
  }
  LogOutput(const LogOutput&) = delete;
  LogOutput& operator=(const LogOutput&) = delete;
  ~LogOutput() { std::fclose(file_); }
  /// Must be flushed after each line.
  [[nodiscard]] std::FILE* file() const { return file_; }

 private:
  static constexpr size_t kBuffer = size_t{64} << 10;  // B; of any line

  void write(std::string_view line) {
    std::string text;
    if (const uint64_t left = out_.left_out() - told_; left > 0)
      text = std::to_string(left) + " lines of the log left out\n";
    if (out_.write(text.append(line))) told_ = out_.left_out();
  }

  NonBlockingOutput out_{STDERR_FILENO};
  std::FILE* file_;
  uint64_t told_ = 0;  // lines left out, as written
};

using Ansi = spdlog::sinks::ansicolor_sink<spdlog::details::console_mutex>;

/// Flushes after each line, and colours levels on a terminal.
class StandardError : LogOutput, public Ansi {
 public:
  StandardError() : Ansi(file(), colors()) {}

 private:
  static spdlog::color_mode colors() {
    const bool shown =
        spdlog::details::os::in_terminal(stderr) && spdlog::details::os::is_color_terminal();
    return shown ? spdlog::color_mode::always : spdlog::color_mode::never;
  }
};

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
      std::string(program), std::make_shared<LimitedSink>(std::make_shared<StandardError>()));
  logger->set_level(parsed);
  logger->set_formatter(formatter_for(STDERR_FILENO));
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

}  // namespace turnpike::metrics
