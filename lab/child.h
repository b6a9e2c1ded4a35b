// SPDX-License-Identifier: BSD-3-Clause
// A program started beside this one: its input and output as lines, its errors in a log file.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>
#include <tl/expected.hpp>

#include "lab/line_reader.h"

namespace turnpike::lab {

/// A program to start: argv, whose first entry is the program's path, and the log for its stderr.
struct Command {
  std::string name;  // for messages
  std::vector<std::string> argv;
  std::string log;     // file, written anew
  bool input = false;  // Child::write() reaches its standard input; else that is empty
};

/// A running child, in a process group of its own so that a terminal's interrupt reaches only its
/// parent. Killed when it goes out of scope while it still runs, and by the kernel when the thread
/// that started it ends, however that ends.
class Child {
 public:
  static tl::expected<Child, std::string> start(const Command& command);

  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();

  /// Its output, readable when lines or its end have come; -1 after the end.
  [[nodiscard]] int output() const { return output_; }
  /// The complete lines that can be had without waiting. At the end of the output a last line
  /// counts without its newline, output() is closed, and exit_code() is known.
  std::vector<std::string> take_lines();

  /// Writes a line, with its newline, to its standard input. Waits while the program does not read.
  /// False: it reads no more. SIGPIPE must be ignored.
  bool write_line(const std::string& line);
  void close_input();
  void signal(int number) const;
  /// As a shell says it: 128 + n for a child that signal n ended.
  [[nodiscard]] int exit_code() const { return exit_code_; }
  [[nodiscard]] bool ended() const { return output_ < 0; }
  [[nodiscard]] const Command& command() const { return command_; }

  /// The last lines of its log.
  [[nodiscard]] std::string log_tail(size_t lines = 15) const;

 private:
  Child(Command command, pid_t pid, int input, int output)
      : command_(std::move(command)), pid_(pid), input_(input), output_(output) {}
  void reap();

  Command command_;
  pid_t pid_;
  int input_;  // -1: none
  int output_;
  int exit_code_ = 0;
  LineReader reader_{output_};
};

}  // namespace turnpike::lab
