// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a flow trace or a routing table: refused with a place in the text, or accepted
// completely. An accepted trace is played in order of time, also with pauses.
//
// The input: a byte that selects trace or table and the pauses, then the text.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/config/draft.h"
#include "common/config/trace.h"
#include "sender/workload/stream.h"
#include "tests/fuzz/input.h"
#include "tests/support/sender_hosts.h"

namespace {

using namespace turnpike;
using namespace turnpike::fuzz;

/// A file in memory, under a name that can be opened.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("fuzz", 0)), path_("/proc/self/fd/" + std::to_string(fd_)) {
    require(fd_ >= 0, "there is memory for a file");
  }
  void write(std::span<const uint8_t> bytes) const {
    require(ftruncate(fd_, 0) == 0 &&
                pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
            "the file is written");
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

/// A mistake lies within the text, and its message has no control byte.
void check(const config::Mistake& m, std::string_view text) {
  require(m.line >= 1 && m.column >= 1, "a mistake has its place");
  require(static_cast<size_t>(m.line) <= 1 + static_cast<size_t>(std::ranges::count(text, '\n')),
          "a mistake lies in the text");
  require(static_cast<size_t>(m.column) <= text.size() + 1, "a mistake lies in its line");
  for (const char c : m.text())
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a message can be printed");
}

void trace(std::string_view text, uint8_t how) {
  auto parsed = config::parse_trace(text, "fuzz.csv");
  if (!parsed) return check(parsed.error(), text);
  require(!parsed->empty() && parsed->size() <= text.size(), "a line is a flow at most");
  for (size_t i = 1; i < parsed->size(); ++i)
    require((*parsed)[i].at >= (*parsed)[i - 1].at, "times do not go back");
  const size_t flows = parsed->size();
  const size_t most = sender::max_arrivals(*parsed, 1_s);
  require(most >= 1 && most <= flows, "the most arrivals in a second are some of all");

  config::Workload w;
  w.from = {0, 1};
  w.to = {0, 1};
  w.size = config::TraceSize{"fuzz.csv"};
  w.arrivals = config::TraceArrivals{};
  if ((how & 2) != 0) w.arrivals = config::PeriodicArrivals{(how & 4) != 0 ? 1e9 : 1e-3};
  if ((how & 8) != 0) {
    w.on = (how & 16) != 0 ? 1_us : 1_s;
    w.off = (how & 32) != 0 ? 3600_s : 1_ms;
  }
  if ((how & 64) != 0) w.stop = 1_s;
  auto stream = sender::Stream::make(
      w, how, 0, std::make_shared<const std::vector<config::TraceEntry>>(std::move(*parsed)));
  require(stream.has_value(), "a trace can be played");
  Nanos last{0};
  for (size_t n = 0; n < flows + 1; ++n) {
    const auto a = stream->next();
    if (!a) break;
    require(a->at >= last && a->from < 2 && a->to < 2, "flows come in order of time");
    require(n < flows || (how & 2) != 0, "a trace ends");
    last = a->at;
  }
}

void table(std::span<const uint8_t> bytes) {
  static const MemoryFile file;
  static const config::FileSpec spec;
  static config::Mistakes none("fuzz.yaml");
  static const Threads one;
  static config::Draft draft = [] {
    config::Draft d(spec, none, one);
    d.topology = sender::testing::two_hosts();
    config::Router r;
    r.name = "a";
    r.links = {0};
    d.topology.routers.push_back(r);
    return d;
  }();
  file.write(bytes);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  config::Router& router = draft.topology.routers[0];
  router.ipv4_routes.clear();
  router.ipv6_routes.clear();
  router.ipv4_in_table = router.ipv6_in_table = 0;
  config::Field<std::string> name;
  name.value = file.path();
  name.at = {1, 1};
  for (const config::Mistake& m : config::read_table(draft, router, name))
    if (m.file == file.path()) check(m, text);
  const auto lines = static_cast<size_t>(std::ranges::count(text, '\n')) + 1;
  require(router.ipv4_routes.size() + router.ipv6_routes.size() <= lines, "a line is a route");
  require(router.ipv4_in_table == router.ipv4_routes.size() &&
              router.ipv6_in_table == router.ipv6_routes.size(),
          "routes of the table are counted");
  for (const auto& r : router.ipv4_routes)
    require(r.link == 0 && r.prefix.length <= 32, "a route leads somewhere");
  for (const auto& r : router.ipv6_routes)
    require(r.link == 0 && r.prefix.length <= 128, "a route leads somewhere");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::span<const uint8_t> rest(data + 1, size - 1);
  if ((data[0] & 1) != 0) {
    table(rest);
  } else {
    trace({reinterpret_cast<const char*>(rest.data()), rest.size()}, data[0]);
  }
  return 0;
}
