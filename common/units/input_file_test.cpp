// SPDX-License-Identifier: BSD-3-Clause
#include "common/units/input_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace turnpike {
namespace {

class InputFile : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const char* name) const { return folder_ + "/" + name; }

 private:
  std::string folder_ = ::testing::TempDir() + "turnpike-input-" + std::to_string(getpid());
};

TEST_F(InputFile, IsReadWhole) {
  std::string text(200'000, 'x');
  text[1000] = '\0';
  std::ofstream(path("file"), std::ios::binary) << text;
  EXPECT_EQ(read_input_file(path("file"), 200'000), text);
  EXPECT_EQ(read_input_file(path("file"), 199'999).error(), "it is larger than 199999 bytes");
  EXPECT_FALSE(read_input_file("/proc/self/stat", 1000)->empty()) << "of unknown size";
}

TEST_F(InputFile, IsRefusedWhereReadingMightNotEnd) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_input_file(path("fifo"), 10).error(), "it is a FIFO");
  EXPECT_EQ(read_input_file("/dev/zero", 10).error(), "it is a device");
  EXPECT_EQ(read_input_file("/", 10).error(), "it is a directory");
  EXPECT_EQ(read_input_file(path("none"), 10).error(), "No such file or directory");
  std::filesystem::create_symlink(path("loop"), path("loop"));
  EXPECT_FALSE(read_input_file(path("loop"), 10));
}

}  // namespace
}  // namespace turnpike
