// SPDX-License-Identifier: BSD-3-Clause
// Output to pipes, terminals and sockets that are not read.
#include "common/metrics/nonblocking_output.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

namespace turnpike::metrics {
namespace {

/// A writing and a reading end; the latter does not block.
struct Ends {
  int writing = -1, reading = -1;

  ~Ends() {
    close(writing);
    if (reading >= 0) close(reading);
  }
  [[nodiscard]] std::string read_all() const {
    std::string text;
    std::array<char, 4096> block;
    for (ssize_t n; (n = ::read(reading, block.data(), block.size())) > 0;)
      text.append(block.data(), static_cast<size_t>(n));
    return text;
  }
};

Ends pipe_ends() {
  std::array<int, 2> ends;
  EXPECT_EQ(pipe(ends.data()), 0);
  EXPECT_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
  return {.writing = ends[1], .reading = ends[0]};
}

Ends socket_ends() {
  std::array<int, 2> ends;
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  EXPECT_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
  return {.writing = ends[1], .reading = ends[0]};
}

/// The reading end is the terminal's other side.
Ends terminal_ends() {
  const int reading = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  EXPECT_EQ(grantpt(reading), 0);
  EXPECT_EQ(unlockpt(reading), 0);
  const int writing = open(ptsname(reading), O_RDWR | O_NOCTTY);
  termios raw{};
  EXPECT_EQ(tcgetattr(writing, &raw), 0);
  raw.c_oflag = 0;
  EXPECT_EQ(tcsetattr(writing, TCSANOW, &raw), 0);
  return {.writing = writing, .reading = reading};
}

std::string line(size_t n) { return std::to_string(n) + std::string(99, '.') + "\n"; }

class NonBlockingOutputTest : public ::testing::TestWithParam<Ends (*)()> {};

TEST_P(NonBlockingOutputTest, LeavesOutWholeTextsUntilItIsReadAgain) {
  const Ends ends = GetParam()();
  NonBlockingOutput out(ends.writing);
  std::string expected;
  size_t n = 0;
  while (out.write(line(n))) expected += line(n++);
  ASSERT_GT(n, 10U);
  EXPECT_FALSE(out.write(line(n)));
  EXPECT_EQ(out.left_out(), 2U);
  EXPECT_EQ(fcntl(ends.writing, F_GETFL) & O_NONBLOCK, 0) << "others share the flags";

  std::string got = ends.read_all();
  EXPECT_TRUE(out.write("again\n"));
  got += ends.read_all();
  EXPECT_EQ(got, expected + "again\n") << "no text is cut";
  EXPECT_EQ(out.left_out(), 2U);
}

TEST_P(NonBlockingOutputTest, WritesATextThatIsLongerThanItsReadersBuffer) {
  const Ends ends = GetParam()();
  NonBlockingOutput out(ends.writing);
  const std::string text = std::string(1 << 20, 'x') + "\n";
  EXPECT_TRUE(out.write(text));
  EXPECT_FALSE(out.write("left out\n"));
  std::string got = ends.read_all();
  for (int i = 0; i < 10'000 && !out.write("end\n"); ++i) got += ends.read_all();
  got += ends.read_all();
  EXPECT_EQ(got, text + "end\n");
}

INSTANTIATE_TEST_SUITE_P(Kinds, NonBlockingOutputTest,
                         ::testing::Values(&pipe_ends, &socket_ends, &terminal_ends));

TEST(NonBlockingOutput, DoesNotWaitForAStoppedTerminal) {
  const Ends ends = terminal_ends();
  NonBlockingOutput out(ends.writing);
  EXPECT_TRUE(out.write("before\n"));
  ASSERT_EQ(tcflow(ends.writing, TCOOFF), 0);
  EXPECT_FALSE(out.write("stopped\n"));
  ASSERT_EQ(tcflow(ends.writing, TCOON), 0);
  EXPECT_TRUE(out.write("after\n"));
  EXPECT_EQ(ends.read_all(), "before\nafter\n");
}

TEST(NonBlockingOutput, AReaderThatHasGoneIsNoError) {
  Ends ends = pipe_ends();
  NonBlockingOutput out(ends.writing);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  close(std::exchange(ends.reading, -1));
  EXPECT_TRUE(out.write("to whom it may concern\n"));
  EXPECT_EQ(out.left_out(), 0U) << "no reader is slow";
  std::signal(SIGPIPE, before);
}

TEST(NonBlockingOutput, AppendsToAFile) {
  char path[] = "/tmp/nonblocking-output-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_EQ(::write(fd, "one\n", 4), 4);
  NonBlockingOutput out(fd);
  EXPECT_TRUE(out.write("two\n"));
  std::array<char, 16> text;
  EXPECT_EQ(pread(fd, text.data(), text.size(), 0), 8);
  unlink(path);
  close(fd);
}

}  // namespace
}  // namespace turnpike::metrics
