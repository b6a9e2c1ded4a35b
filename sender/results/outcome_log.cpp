// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/outcome_log.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace turnpike::sender {

namespace {

static_assert(std::is_trivially_copyable_v<FlowOutcome>);

bool before(const FlowOutcome& a, const FlowOutcome& b) {
  return std::tie(a.start, a.host, a.id) < std::tie(b.start, b.host, b.id);
}

/// Opens an unnamed file in `folder`; -1: failed.
int nameless_file(const std::string& folder) {
  if (const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); fd >= 0) return fd;
  // The file system may lack O_TMPFILE: make a file and unlink it at once.
  std::string name = folder + "/outcomes-XXXXXX";
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) unlink(name.c_str());
  return fd;
}

/// Calls transfer(bytes done, bytes left), which returns like pread(), until all `size` B are done.
template <class F>
bool whole(size_t size, F&& transfer) {
  for (size_t done = 0; done < size;) {
    const ssize_t n = transfer(done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

/// The blocks of a log, each at its next outcome.
struct OutcomeLog::Iterator::Merge {
  struct Block {
    std::vector<FlowOutcome> read;
    size_t at = 0;                   // in `read`
    size_t from_file = 0, left = 0;  // outcomes that follow `read` in the file

    [[nodiscard]] const FlowOutcome& next() const { return read[at]; }
  };
  struct Later {
    const std::vector<Block>& blocks;
    bool operator()(size_t a, size_t b) const { return before(blocks[b].next(), blocks[a].next()); }
  };

  explicit Merge(const OutcomeLog& of) : log(of) {
    for (size_t from = 0; from < log.spilled_; from += kInMemory)
      add({.read = {}, .from_file = from, .left = kInMemory});
    Block last{.read = log.recent_};
    std::ranges::sort(last.read, before);
    add(std::move(last));
    for (size_t b = 0; b < blocks.size(); ++b) order.push(b);
  }

  void add(Block block) {
    if (block.read.empty()) read_on(block);
    if (!block.read.empty()) blocks.push_back(std::move(block));
  }

  void read_on(Block& block) const {
    block.read.resize(std::min(block.left, kRead));
    block.at = 0;
    auto* to = reinterpret_cast<uint8_t*>(block.read.data());
    const size_t at = block.from_file * sizeof(FlowOutcome);
    errno = 0;
    if (!whole(block.read.size() * sizeof(FlowOutcome), [&](size_t done, size_t left) {
          return pread(log.file_, to + done, left, static_cast<off_t>(at + done));
        }))
      throw std::runtime_error(log.folder_ +
                               ": outcomes of flows cannot be read back: " + std::strerror(errno));
    block.from_file += block.read.size();
    block.left -= block.read.size();
  }

  void advance() {
    const size_t first = order.top();
    order.pop();
    Block& block = blocks[first];
    if (++block.at == block.read.size()) read_on(block);
    if (!block.read.empty()) order.push(first);
  }

  const OutcomeLog& log;
  std::vector<Block> blocks;
  std::priority_queue<size_t, std::vector<size_t>, Later> order{Later{blocks}};  // the least first
};

OutcomeLog::Iterator::Iterator(const OutcomeLog& log) : merge_(std::make_unique<Merge>(log)) {}
OutcomeLog::Iterator::~Iterator() = default;

const FlowOutcome& OutcomeLog::Iterator::operator*() const {
  return merge_->blocks[merge_->order.top()].next();
}

OutcomeLog::Iterator& OutcomeLog::Iterator::operator++() {
  merge_->advance();
  return *this;
}

bool OutcomeLog::Iterator::operator==(std::default_sentinel_t) const {
  return merge_->order.empty();
}

OutcomeLog::OutcomeLog(std::string folder) : folder_(std::move(folder)) {}

OutcomeLog::OutcomeLog(OutcomeLog&& other) noexcept { *this = std::move(other); }

OutcomeLog& OutcomeLog::operator=(OutcomeLog&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(recent_, other.recent_);
  std::swap(spilled_, other.spilled_);
  std::swap(file_, other.file_);
  std::swap(in_memory_, other.in_memory_);
  return *this;
}

OutcomeLog::~OutcomeLog() {
  if (file_ >= 0) close(file_);
}

void OutcomeLog::push_back(const FlowOutcome& outcome) {
  if (!in_memory_ && recent_.size() == kInMemory) in_memory_ = !spill();
  recent_.push_back(outcome);
}

// A block that is written only in part stays in memory as a whole.
bool OutcomeLog::spill() {
  if (file_ < 0) file_ = nameless_file(folder_);
  if (file_ < 0) return false;
  std::ranges::sort(recent_, before);
  const auto* from = reinterpret_cast<const uint8_t*>(recent_.data());
  const size_t at = spilled_ * sizeof(FlowOutcome);
  if (!whole(recent_.size() * sizeof(FlowOutcome), [&](size_t done, size_t left) {
        return pwrite(file_, from + done, left, static_cast<off_t>(at + done));
      }))
    return false;
  spilled_ += recent_.size();
  recent_.clear();
  return true;
}

}  // namespace turnpike::sender
