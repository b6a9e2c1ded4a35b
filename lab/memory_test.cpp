// SPDX-License-Identifier: BSD-3-Clause
// The memory of a run is estimated beforehand, and a run that exceeds the machine's is refused.
#include "lab/memory.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/config/load.h"
#include "common/program/machine_memory.h"

namespace turnpike::lab {
namespace {

constexpr size_t kGb = 1'000'000'000;

/// Many hosts or many entries over one bottleneck, round trip 100 ms.
config::Topology dumbbell(const std::string& rate, size_t hosts, size_t entries, unsigned count) {
  std::ostringstream nodes, links, flows;
  for (size_t h = 0; h < hosts; ++h) {
    nodes << "  h" << h << ": { budget: 1 $/s }\n";
    links << "  ah" << h << ": { ends: [h" << h << ", left], rate: 40 Gbps, delay: 5 ms }\n";
  }
  for (size_t i = 0; i < entries; ++i)
    flows << "    f" << i << ": { from: h" << i % hosts << ", to: sink, count: " << count << " }\n";
  auto loaded = config::load_text("run: { duration: 2 s }\nhosts:\n  sink: {}\n" + nodes.str() +
                                      "routers: { left: {}, right: {} }\nlinks:\n" + links.str() +
                                      "  bottleneck: { ends: [left, right], rate: " + rate +
                                      ", delay: 40 ms, buffer: 1 BDP, law: fcp }\n"
                                      "  out: { ends: [right, sink], rate: 40 Gbps, delay: 5 ms }\n"
                                      "traffic:\n  flows:\n" +
                                      flows.str(),
                                  "dumbbell");
  EXPECT_TRUE(loaded) << loaded.error().front().text();
  return *loaded;
}

size_t total(const config::Topology& t) { return memory_of(t, sender::Traces(t)).total(); }

TEST(Memory, IsBoundedByTheLinkHoweverManyFlowsShareIt) {
  const size_t one = total(dumbbell("1 Gbps", 1, 1, 1));
  EXPECT_LT(total(dumbbell("1 Gbps", 1, 50, 1)), one + kGb / 10);
  EXPECT_LT(total(dumbbell("1 Gbps", 50, 50, 1)), kGb / 2);
  EXPECT_LT(total(dumbbell("1 Gbps", 1, 1000, 1)), kGb);
  EXPECT_LT(total(dumbbell("1 Gbps", 50, 50, 20)), kGb);
  EXPECT_LT(total(dumbbell("10 Gbps", 1, 1000, 1)), 3 * kGb);
}

// Their outcomes are in a file.
TEST(Memory, FlowsThatHaveEndedTakeNone) {
  const auto lasting = [](const char* duration) {
    const auto t = config::load_text(
        std::string("run: { sample: 1 s, duration: ") + duration +
            " }\nhosts: { a: { budget: 1 $/s }, b: {} }\nlinks: { l: { ends: [a, b], rate: 1 Gbps "
            "} }\n"
            "traffic: { workloads: { short: { from: a, to: b, arrivals: { poisson: 5000 /s }, "
            "size: { fixed: 10 KB } } } }\n",
        "short");
    EXPECT_TRUE(t) << t.error().front().text();
    return total(*t);
  };
  EXPECT_LT(lasting("1000 s"), lasting("100 s") + 4'000'000);  // 4.5 million flows more
}

TEST(Memory, IsRefusedWithWhatMakesItLargeAndWhatToChange) {
  const config::Topology t = dumbbell("20 Gbps", 1, 10, 1);
  const MemoryNeed need = memory_of(t, sender::Traces(t));
  EXPECT_GT(need.total(), kGb);
  EXPECT_EQ(memory_refusal(need, need.total()), "");
  EXPECT_EQ(memory_refusal(need, std::nullopt), "") << "the machine's memory is unknown";
  const std::string why = memory_refusal(need, kGb);
  for (const char* part : {"the machine has 1.0 GB", "packet buffers take", "link bottleneck",
                           "20 Gbps", "a lower rate, delay or buffer"})
    EXPECT_NE(why.find(part), std::string::npos) << part << " in: " << why;
  const std::string text = memory_text(need, 12 * kGb);
  EXPECT_EQ(text.find("Memory: about "), 0U) << text;
  EXPECT_NE(text.find(" of 12.0 GB available (packet buffers "), std::string::npos) << text;
}

/// A folder with files of /proc and /sys.
class MachineMemory : public ::testing::Test {
 protected:
  ~MachineMemory() override { std::filesystem::remove_all(root); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  const std::string root =
      std::filesystem::temp_directory_path() / ("machine-memory-" + std::to_string(getpid()));
};

TEST_F(MachineMemory, IsWhatTheKernelCallsAvailable) {
  EXPECT_EQ(available_memory(root), std::nullopt);
  write("/proc/meminfo", "MemTotal:       24000000 kB\nMemAvailable:   20000000 kB\n");
  EXPECT_EQ(available_memory(root), size_t{20'000'000} * 1024);
}

TEST_F(MachineMemory, IsWhatIsLeftInTheNarrowestControlGroup) {
  write("/proc/meminfo", "MemAvailable:   20000000 kB\n");
  write("/proc/self/cgroup", "0::/outer/inner\n");
  write("/sys/fs/cgroup/outer/memory.max", "3000000000\n");
  write("/sys/fs/cgroup/outer/memory.current", "1000000000\n");
  write("/sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 400000000\n");
  write("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("/sys/fs/cgroup/outer/inner/memory.current", "5\n");
  EXPECT_EQ(available_memory(root), size_t{2'400'000'000});
}

TEST_F(MachineMemory, KnowsTheFirstVersionOfControlGroups) {
  write("/proc/self/cgroup", "3:cpu:/a\n2:memory:/a\n0::/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "100\n");
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000\n");
  write("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "100\n");
  EXPECT_EQ(available_memory(root), size_t{900});
}

TEST(Memory, AProgramThatDoesNotFitIsRefusedBeforeItStarts) {
  EXPECT_EQ(memory_obstacle(164, std::nullopt), "");
  EXPECT_EQ(memory_obstacle(164, 100'000'000), "");
  EXPECT_EQ(memory_obstacle(20, 0), "");
  const std::string why = memory_obstacle(164, 64'000'000);
  EXPECT_NE(why.find("take 100 MB"), std::string::npos) << why;
  EXPECT_NE(why.find("has 64 MB to give"), std::string::npos) << why;
}

}  // namespace
}  // namespace turnpike::lab
