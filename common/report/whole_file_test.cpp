// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/whole_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/report/run_data.h"

namespace turnpike::report {
namespace {

namespace fs = std::filesystem;

class WholeFiles : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder + "/" + name; }
  [[nodiscard]] size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  std::string folder = fs::temp_directory_path() / ("whole-" + std::to_string(getpid()));
};

TEST_F(WholeFiles, HaveTheirNameOnceTheyAreWhole) {
  auto file = WholeFile::open(path("a"));
  ASSERT_TRUE(file) << file.error();
  file->write("one\n");
  EXPECT_FALSE(fs::exists(path("a")));
  EXPECT_TRUE(fs::exists(path("a.part")));
  file->write(std::string(200'000, 'x'));
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(read_text(path("a"))->size(), 200'004U);
  EXPECT_EQ(files(), 1U);
}

TEST_F(WholeFiles, LeaveNothingWhenGivenUp) {
  { const auto file = WholeFile::open(path("a")); }
  EXPECT_EQ(files(), 0U);
}

TEST_F(WholeFiles, ReplaceLinksAndWhatAKilledRunLeft) {
  ASSERT_TRUE(write_text(path("target"), "kept"));
  fs::create_symlink(path("target"), path("a"));
  fs::create_symlink(path("target"), path("a.part"));
  ASSERT_TRUE(write_text(path("a"), "new"));
  EXPECT_EQ(*read_text(path("a")), "new");
  EXPECT_EQ(*read_text(path("target")), "kept");
  EXPECT_FALSE(fs::is_symlink(path("a")));
}

TEST_F(WholeFiles, AFullDiskIsAnErrorAndDevicesAreNotReplaced) {
  const auto written = write_text("/dev/full", "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error(), "cannot write /dev/full: No space left on device");
  ASSERT_TRUE(write_text("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(WholeFiles, TwoWritersOfOneFileAreAMistake) {
  auto first = WholeFile::open(path("links.csv"));
  ASSERT_TRUE(first);
  const auto second = WholeFile::open(path("links.csv"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), "cannot write " + path("links.csv") +
                                ": another process writes it; choose another folder");
  first->write("first\n");
  EXPECT_TRUE(first->finish());
  EXPECT_EQ(*read_text(path("links.csv")), "first\n");
  EXPECT_TRUE(WholeFile::open(path("links.csv"))) << "the first has ended";
}

TEST_F(WholeFiles, AFolderIsPreparedOrTheErrorSaysWhyNot) {
  ASSERT_TRUE(prepare_folder(path("new/folder")));
  EXPECT_TRUE(fs::is_empty(path("new/folder")));
  ASSERT_TRUE(write_text(path("file"), ""));
  const auto under_file = prepare_folder(path("file"));
  ASSERT_FALSE(under_file);
  EXPECT_NE(under_file.error().find(path("file")), std::string::npos) << under_file.error();
  const auto device = prepare_folder("/dev/full/below");
  EXPECT_FALSE(device);
}

}  // namespace
}  // namespace turnpike::report
