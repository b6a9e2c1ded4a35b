// SPDX-License-Identifier: BSD-3-Clause
#include "operator/screen.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace turnpike::ops {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";  // alternate screen, no cursor
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr int kEscapeMs = 50;  // the rest of a key's sequence comes within this time

std::string_view sequence_of(LineStyle style) {
  switch (style) {
    case LineStyle::kBar:
    case LineStyle::kSelected:
      return "\x1b[7m";  // reverse
    case LineStyle::kTitle:
      return "\x1b[1m";  // bold
    case LineStyle::kAlarm:
      return "\x1b[1;31m";  // bold, red
    case LineStyle::kPlain:
      break;
  }
  return "";
}

Key plain_key(char c) {
  switch (c) {
    case 'q':
    case '\x03':  // ^C
    case '\x04':  // ^D
      return Key::kQuit;
    case 'k':
      return Key::kUp;
    case 'j':
      return Key::kDown;
    case '\r':
    case '\n':
      return Key::kEnter;
    case '\b':
    case '\x7f':
      return Key::kBack;
    case 's':
      return Key::kSort;
    case 'r':
      return Key::kReverse;
    case ' ':
      return Key::kPause;
    case 'c':
      return Key::kCustomers;
    default:
      return Key::kNone;
  }
}

}  // namespace

Key take_key(std::string& input, bool last) {
  const auto take = [&](size_t n, Key key) {
    input.erase(0, n);
    return key;
  };
  if (input.empty()) return Key::kNone;
  if (input[0] != '\x1b') return take(1, plain_key(input[0]));
  if (input.size() == 1) return last ? take(1, Key::kBack) : Key::kNone;
  if (input[1] != '[' && input[1] != 'O') return take(1, Key::kBack);
  // Parameters, then one final byte (ECMA-48 5.4).
  size_t end = 2;
  while (end < input.size() && (input[end] < '@' || input[end] > '~')) ++end;
  if (end == input.size()) return last ? take(end, Key::kNone) : Key::kNone;
  const char final = input[end];
  return take(end + 1, final == 'A' ? Key::kUp : final == 'B' ? Key::kDown : Key::kNone);
}

tl::expected<std::unique_ptr<Screen>, std::string> Screen::open(Nanos interval) {
  const char* type = std::getenv("TERM");
  std::unique_ptr<Screen> s(new Screen);
  s->gone_ = true;  // the destructor has nothing to restore yet
  if (isatty(STDOUT_FILENO) == 0 || tcgetattr(STDIN_FILENO, &s->before_) != 0 || type == nullptr ||
      std::string_view(type) == "dumb")
    return tl::unexpected(
        std::string("a full screen needs a terminal: use --once or --json without one"));
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) sigaddset(&wanted, signal);
  pthread_sigmask(SIG_BLOCK, &wanted, &s->mask_before_);
  s->signals_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  s->timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  const timespec every{.tv_sec = interval.count() / 1'000'000'000,
                       .tv_nsec = interval.count() % 1'000'000'000};
  const itimerspec times{.it_interval = every, .it_value = every};
  timerfd_settime(s->timer_, 0, &times, nullptr);
  termios raw = s->before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG | IEXTEN);
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  if (s->signals_ < 0 || s->timer_ < 0 || tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) != 0)
    return tl::unexpected(std::string("the terminal cannot be set up"));
  s->gone_ = false;
  s->write(std::string(kEnter));
  return s;
}

Screen::~Screen() {
  if (!gone_) {
    write(std::string(kLeave));
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  if (signals_ >= 0) {
    close(signals_);
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  if (timer_ >= 0) close(timer_);
}

ScreenSize Screen::size() {
  winsize found{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0 || found.ws_row == 0)
    return {};
  return {.width = found.ws_col, .height = found.ws_row};
}

void Screen::draw(const std::vector<ScreenLine>& lines) {
  std::string out = "\x1b[H";
  const size_t width = size().width;
  for (size_t i = 0; i < lines.size(); ++i) {
    const ScreenLine& line = lines[i];
    const std::string_view style = sequence_of(line.style);
    out += style;
    out += line.text;
    // Reverse lines reach the screen's edge.
    if (!style.empty() && line.style != LineStyle::kTitle && line.style != LineStyle::kAlarm)
      out.append(width - std::min(width, line.text.size()), ' ');
    out += "\x1b[0m\x1b[K";
    if (i + 1 < lines.size()) out += "\r\n";
  }
  write(out + "\x1b[J");
}

void Screen::write(const std::string& text) {
  for (size_t done = 0; done < text.size() && !gone_;) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else if (errno == EAGAIN) {
      pollfd ready{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&ready, 1, 1000);
    } else if (errno != EINTR) {
      gone_ = true;
    }
  }
}

Screen::Event Screen::wait() {
  while (!gone_) {
    while (!input_.empty()) {
      const size_t before = input_.size();
      Key key = take_key(input_, /*last=*/false);
      if (key == Key::kNone && input_.size() == before) {
        // Escape is a key and begins the sequence of others: the time tells them apart.
        pollfd more{STDIN_FILENO, POLLIN, 0};
        if (::poll(&more, 1, kEscapeMs) != 0) break;
        key = take_key(input_, /*last=*/true);
      }
      if (key != Key::kNone) return {Event::Kind::kKey, key};
    }
    std::array<pollfd, 3> files{
        {{STDIN_FILENO, POLLIN, 0}, {signals_, POLLIN, 0}, {timer_, POLLIN, 0}}};
    if (::poll(files.data(), files.size(), -1) < 0 && errno != EINTR) break;
    if (files[1].revents != 0) {
      signalfd_siginfo signal{};
      if (::read(signals_, &signal, sizeof signal) != sizeof signal) continue;
      if (signal.ssi_signo == SIGWINCH) return {Event::Kind::kResize};
      break;
    }
    if (files[0].revents != 0) {
      std::array<char, 256> part;
      const ssize_t n = ::read(STDIN_FILENO, part.data(), part.size());
      if (n <= 0 && errno != EINTR) break;  // closed
      input_.append(part.data(), static_cast<size_t>(std::max<ssize_t>(n, 0)));
      continue;
    }
    if (files[2].revents != 0) {
      uint64_t ticks = 0;
      if (::read(timer_, &ticks, sizeof ticks) == sizeof ticks) return {Event::Kind::kTick};
    }
  }
  return {Event::Kind::kEnd};
}

}  // namespace turnpike::ops
