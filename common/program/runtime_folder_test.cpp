// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/runtime_folder.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace turnpike {
namespace {

namespace fs = std::filesystem;

class RuntimeFolder : public ::testing::Test {
 protected:
  RuntimeFolder() : base(::testing::TempDir() + "turnpike-folder-" + std::to_string(getpid())) {
    fs::create_directory(base);
    setenv("RUNTIME_DIRECTORY", (base + "/run:/other").c_str(), 1);
  }
  ~RuntimeFolder() override {
    unsetenv("RUNTIME_DIRECTORY");
    fs::remove_all(base);
  }
  [[nodiscard]] unsigned mode(const std::string& name) const {
    return static_cast<unsigned>(fs::status(base + name).permissions());
  }

  std::string base;
};

TEST_F(RuntimeFolder, IsSystemdsFirst) {
  EXPECT_EQ(runtime_folder(), base + "/run");
  EXPECT_EQ(socket_path("%t/memif/a"), base + "/run/memif/a");
  EXPECT_EQ(socket_path("/tmp/a"), "/tmp/a");
  EXPECT_EQ(socket_path("@a"), "@a");
}

TEST_F(RuntimeFolder, WithoutASessionsFolderIsTheUsersOwn) {
  unsetenv("RUNTIME_DIRECTORY");
  setenv("XDG_RUNTIME_DIR", (base + "/absent").c_str(), 1);
  EXPECT_EQ(runtime_folder(),
            geteuid() == 0 ? "/run/turnpike" : "/tmp/turnpike-" + std::to_string(geteuid()));
  setenv("XDG_RUNTIME_DIR", base.c_str(), 1);
  EXPECT_EQ(runtime_folder(), base + "/turnpike");
  unsetenv("XDG_RUNTIME_DIR");
}

TEST_F(RuntimeFolder, SocketsFoldersAreClosedToOthers) {
  ASSERT_TRUE(prepare_socket_folder("%t/memif/a"));
  EXPECT_EQ(mode("/run"), 0750U);
  EXPECT_EQ(mode("/run/memif"), 0700U);
  EXPECT_TRUE(prepare_socket_folder("%t/memif/b"));  // and again
  EXPECT_TRUE(prepare_socket_folder("/nowhere/a"));  // not ours to create
  EXPECT_FALSE(fs::exists("/nowhere"));
}

TEST_F(RuntimeFolder, RefusesALinkInItsPlace) {
  fs::create_directory(base + "/elsewhere");
  fs::create_directory_symlink(base + "/elsewhere", base + "/run");
  const auto done = prepare_socket_folder("%t/memif/a");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().find("is no folder"), std::string::npos) << done.error();
  EXPECT_TRUE(fs::is_empty(base + "/elsewhere"));
}

TEST_F(RuntimeFolder, RefusesAFolderThatOthersWriteTo) {
  fs::create_directory(base + "/run");
  fs::permissions(base + "/run", fs::perms::all);
  const auto done = prepare_socket_folder("%t/memif/a");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().find("chmod go-w"), std::string::npos) << done.error();
}

TEST_F(RuntimeFolder, RefusesAnotherUsersFolder) {
  std::string folder = "/usr";
  if (geteuid() == 0) {
    folder = base + "/run";
    fs::create_directory(folder);
    ASSERT_EQ(chown(folder.c_str(), 65534, 65534), 0);
  }
  const auto done = prepare_own_folder(folder, 0750);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().find("another user"), std::string::npos) << done.error();
}

}  // namespace
}  // namespace turnpike
