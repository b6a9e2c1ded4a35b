// SPDX-License-Identifier: BSD-3-Clause
#include "router/reload/history.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/config/load.h"
#include "common/config/resolve.h"
#include "common/config/trace.h"
#include "common/units/input_file.h"

namespace turnpike::router {
namespace {

namespace fs = std::filesystem;
using Done = tl::expected<void, std::string>;

constexpr size_t kMaxStateBytes = 1 << 20;
constexpr size_t kDigits = 6;

tl::unexpected<std::string> failed(const std::string& what) {
  return tl::unexpected(what + ": " + std::strerror(errno));
}

std::string name_of(uint64_t number) {
  std::string digits = std::to_string(number);
  return std::string(kDigits - std::min(digits.size(), kDigits), '0') + digits;
}

Done sync(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed(path);
  const bool good = ::fsync(fd) == 0;
  ::close(fd);
  if (!good) return failed(path);
  return {};
}

/// A topology whose files have names inside its own folder, with their contents.
struct Stored {
  std::string yaml;
  std::vector<std::pair<std::string, std::string>> files;
};

tl::expected<Stored, std::string> stored_form(config::Topology t) {
  Stored out;
  const auto copy = [&](std::string& file, const std::string& name) -> Done {
    if (file.empty()) return {};
    auto text = read_input_file(file, config::kMaxListBytes);
    if (!text) return tl::unexpected(file + " cannot be read: " + text.error());
    file = name;
    out.files.emplace_back(name, std::move(*text));
    return {};
  };
  for (size_t i = 0; i < t.routers.size(); ++i)
    if (auto done = copy(t.routers[i].table, "table-" + std::to_string(i) + ".txt"); !done)
      return tl::unexpected(done.error());
  if (auto done = copy(t.customer_table, "customers.txt"); !done)
    return tl::unexpected(done.error());
  for (size_t i = 0; i < t.workloads.size(); ++i)
    if (auto* trace = std::get_if<config::TraceSize>(&t.workloads[i].size))
      if (auto done = copy(trace->file, "trace-" + std::to_string(i) + ".csv"); !done)
        return tl::unexpected(done.error());
  out.yaml = config::resolved_text(t);
  return out;
}

}  // namespace

History::History(History&& other) noexcept
    : folder_(std::move(other.folder_)),
      max_entries_(other.max_entries_),
      lock_(std::exchange(other.lock_, -1)),
      last_(other.last_),
      commits_(std::move(other.commits_)),
      pending_(other.pending_),
      step_(std::move(other.step_)) {}

History::~History() {
  if (lock_ >= 0) ::close(lock_);
}

tl::expected<History, std::string> History::open(const std::string& folder, size_t max_entries) {
  History h;
  h.folder_ = folder;
  h.max_entries_ = std::max<size_t>(max_entries, 2);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return tl::unexpected(folder + ": " + error.message());
  const std::string lock = folder + "/lock";
  h.lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
  if (h.lock_ < 0 && errno == EROFS)  // what is committed can start nevertheless
    h.lock_ = ::open(lock.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (h.lock_ < 0) return failed(lock);
  if (::flock(h.lock_, LOCK_EX | LOCK_NB) != 0)
    return tl::unexpected(folder + " is in use by another router: give each its own folder");
  if (auto read = h.read_state(); !read) return tl::unexpected(read.error());
  h.clean_up();
  return h;
}

Done History::read_state() {
  const std::string path = folder_ + "/state";
  // A link to a missing file is an error: without a state the router would start with another
  // configuration than the committed one.
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return failed(path);
  }
  const auto text = read_input_file(path, kMaxStateBytes);
  if (!text) return tl::unexpected(path + ": " + text.error());
  const auto damaged = [&] {
    return tl::unexpected(path + " is damaged: remove it to start from the file again");
  };
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("commits") || !json["commits"].is_array())
    return damaged();
  for (const auto& n : json["commits"]) {
    if (!n.is_number_unsigned()) return damaged();
    commits_.push_back(n.get<uint64_t>());
  }
  if (json.contains("pending") && json["pending"].is_number_unsigned())
    pending_ = json["pending"].get<uint64_t>();
  if (const auto now = committed(); now && !fs::exists(this->path(*now)))
    return tl::unexpected(this->path(*now) + ", which is committed, is missing");
  return {};
}

// Removes what a crash has left, as far as possible.
void History::clean_up() {
  std::error_code error;
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(folder_, error))
    if (const auto ending = entry.path().extension(); ending == ".part" || ending == ".old")
      left.push_back(entry.path());
  for (const fs::path& path : left) fs::remove_all(path, error);
}

std::string History::path(uint64_t number) const {
  return folder_ + "/" + name_of(number) + "/config.yaml";
}

std::optional<uint64_t> History::committed() const {
  return commits_.empty() ? std::nullopt : std::optional(commits_.back());
}

std::optional<uint64_t> History::before(size_t commits) const {
  if (commits >= commits_.size()) return {};
  return commits_[commits_.size() - 1 - commits];
}

tl::expected<std::vector<uint64_t>, std::string> History::numbers() const {
  std::vector<uint64_t> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    if (name.size() >= kDigits && name.size() < 19 && std::ranges::all_of(name, digit))
      all.push_back(std::stoull(name));
  }
  if (error) return tl::unexpected(folder_ + ": " + error.message());
  std::ranges::sort(all);
  return all;
}

tl::expected<std::vector<History::Entry>, std::string> History::entries() const {
  const auto all = numbers();
  if (!all) return tl::unexpected(all.error());
  std::vector<Entry> out;
  for (const uint64_t n : *all) {
    const auto source = read_input_file(folder_ + "/" + name_of(n) + "/source", kMaxStateBytes);
    Entry e;
    e.number = n;
    e.committed = committed() == n;
    e.pending = pending_ == n;
    if (source) e.source = *source;
    out.push_back(std::move(e));
  }
  return out;
}

Done History::put(const std::string& path, const std::string& text) {
  step();
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
  if (fd < 0) return failed(path);
  bool good = true;
  for (size_t at = 0; good && at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    good = n > 0;
    at += good ? static_cast<size_t>(n) : 0;
  }
  step();
  good = good && ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  errno = error;
  if (!good) return failed(path);
  return {};
}

Done History::rename_into(const std::string& from, const std::string& to) {
  step();
  if (::rename(from.c_str(), to.c_str()) != 0) return failed(to);
  step();
  return sync(folder_);
}

Done History::write_state(std::vector<uint64_t> commits, std::optional<uint64_t> pending) {
  nlohmann::json json{{"version", 1}, {"commits", commits}};
  if (pending) json["pending"] = *pending;
  const std::string path = folder_ + "/state";
  if (auto done = put(path + ".part", json.dump() + "\n"); !done) return done;
  if (auto done = rename_into(path + ".part", path); !done) return done;
  commits_ = std::move(commits);
  pending_ = pending;
  return {};
}

History::Start History::start() {
  Start out;
  out.number = committed();
  if (!pending_) {
    remove_uncommitted();
    return out;
  }
  out.note = "configuration " + std::to_string(*pending_) +
             " was not confirmed before the program ended, and is reverted" +
             (out.number ? " to " + std::to_string(*out.number) : "");
  // On a full disk the committed configuration starts all the same.
  if (auto done = drop_pending(); !done) out.note += "; " + done.error();
  pending_.reset();
  return out;
}

// Entries that were reverted, or that a program did not live to commit, would pile up.
void History::remove_uncommitted() {
  const auto all = numbers();
  if (!all) return;
  std::error_code error;
  for (const uint64_t number : *all)
    if (std::ranges::find(commits_, number) == commits_.end())
      fs::remove_all(fs::path(folder_) / name_of(number), error);
}

tl::expected<uint64_t, std::string> History::add(const config::Topology& topology,
                                                 const std::string& source) {
  const auto all = numbers();
  if (!all) return tl::unexpected(all.error());
  // A number means one configuration in a program's log, also after the entry was removed.
  last_ = std::max(last_, all->empty() ? 0 : all->back()) + 1;
  auto number = store(last_, topology, source);
  if (!number) clean_up();  // a full disk needs the room
  return number;
}

tl::expected<uint64_t, std::string> History::store(uint64_t number,
                                                   const config::Topology& topology,
                                                   const std::string& source) {
  const auto stored = stored_form(topology);
  if (!stored) return tl::unexpected(stored.error());
  const std::string final_name = folder_ + "/" + name_of(number), part = final_name + ".part";
  std::error_code error;
  fs::remove_all(part, error);
  step();
  if (::mkdir(part.c_str(), 0750) != 0) return failed(part);
  for (const auto& [name, text] : stored->files)
    if (auto done = put((fs::path(part) / name).string(), text); !done)
      return tl::unexpected(done.error());
  if (auto done = put(part + "/source", source); !done) return tl::unexpected(done.error());
  if (auto done = put(part + "/config.yaml", stored->yaml); !done)
    return tl::unexpected(done.error());
  // A stored configuration must start without the files from which it came.
  if (const auto again = config::load_file(part + "/config.yaml"); !again)
    return tl::unexpected("cannot be stored: " + again.error().front().text());
  if (auto done = sync(part); !done) return tl::unexpected(done.error());
  if (auto done = rename_into(part, final_name); !done) return tl::unexpected(done.error());
  return number;
}

Done History::set_pending(uint64_t number) { return write_state(commits_, number); }

// First the entries, since a full disk needs the room: a start reverts a pending entry that is
// missing as well.
Done History::drop_pending() {
  remove_uncommitted();
  return write_state(commits_, std::nullopt);
}

Done History::commit(uint64_t number) {
  if (!fs::exists(path(number)))
    return tl::unexpected("there is no configuration " + std::to_string(number));
  std::vector<uint64_t> commits = commits_;
  std::erase(commits, number);
  commits.push_back(number);
  if (commits.size() > max_entries_)
    commits.erase(commits.begin(), commits.end() - static_cast<std::ptrdiff_t>(max_entries_));
  if (auto done = write_state(std::move(commits), std::nullopt); !done) return done;
  // The rest may fail: then there are more entries than wanted.
  const auto all = numbers();
  for (size_t i = 0; all && i + max_entries_ < all->size(); ++i) {
    const uint64_t old = (*all)[i];
    if (old == committed() || old == before(1)) continue;
    const std::string name = folder_ + "/" + name_of(old);
    if (auto done = rename_into(name, name + ".old"); !done) break;
    step();
    std::error_code error;
    fs::remove_all(name + ".old", error);
  }
  std::vector<uint64_t> left;
  for (const uint64_t n : commits_)
    if (fs::exists(path(n))) left.push_back(n);
  if (left != commits_) (void)write_state(std::move(left), std::nullopt);
  return {};
}

}  // namespace turnpike::router
