// SPDX-License-Identifier: BSD-3-Clause
// The configurations that a router has applied, in a folder that survives crashes: which one
// starts, which one waits for its confirmation, and the earlier ones.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"

namespace turnpike::router {

/// A folder with a folder per configuration, "000012/config.yaml", with copies of all files that
/// the configuration names, and a file `state` that says which of them is committed. Every step is
/// a new file or folder, synced, then a rename, then a sync of the folder: after a crash at any
/// point the folder holds the last committed configuration whole. One process uses it at a time.
class History {
 public:
  static constexpr size_t kMaxEntries = 50;

  /// Opens or makes the folder. The error: it cannot be used, another process has it, or its state
  /// is damaged.
  static tl::expected<History, std::string> open(const std::string& folder,
                                                 size_t max_entries = kMaxEntries);
  History(History&& other) noexcept;
  History& operator=(History&&) = delete;
  ~History();

  struct Entry {
    uint64_t number = 0;
    bool committed = false;  // starts
    bool pending = false;    // waits for its confirmation
    std::string source;      // where it came from, as given to add()
  };
  /// The entries, oldest first.
  [[nodiscard]] tl::expected<std::vector<Entry>, std::string> entries() const;
  /// File of an entry.
  [[nodiscard]] std::string path(uint64_t number) const;

  /// The committed entry; none: nothing was committed yet.
  [[nodiscard]] std::optional<uint64_t> committed() const;
  [[nodiscard]] std::optional<uint64_t> pending() const { return pending_; }
  /// The entry that was committed so many commits before the present one.
  [[nodiscard]] std::optional<uint64_t> before(size_t commits) const;

  /// The configuration of a starting program. An entry that was pending when it ended is reverted
  /// here.
  struct Start {
    std::optional<uint64_t> number;  // entry to start with; none: nothing was committed
    std::string note;                // for people: a change that was reverted; empty: none
  };
  Start start();

  /// Stores a configuration and the contents of the files that it names; `source`: one line that
  /// says where it came from. Nothing starts with it yet. Returns its number. After an error
  /// nothing of it is left.
  tl::expected<uint64_t, std::string> add(const config::Topology& topology,
                                          const std::string& source);
  /// Marks an entry as applied, but not to start with.
  tl::expected<void, std::string> set_pending(uint64_t number);
  /// The entry starts from now on. Old entries beyond the limit are removed.
  tl::expected<void, std::string> commit(uint64_t number);
  /// No entry is pending any more. Removes entries that were never committed.
  tl::expected<void, std::string> drop_pending();

  /// For tests of crashes: called before every change of the folder.
  void on_step(std::function<void()> step) { step_ = std::move(step); }

 private:
  History() = default;
  tl::expected<void, std::string> read_state();
  tl::expected<void, std::string> write_state(std::vector<uint64_t> commits,
                                              std::optional<uint64_t> pending);
  tl::expected<std::vector<uint64_t>, std::string> numbers() const;
  tl::expected<void, std::string> put(const std::string& path, const std::string& text);
  tl::expected<void, std::string> rename_into(const std::string& from, const std::string& to);
  tl::expected<uint64_t, std::string> store(uint64_t number, const config::Topology& topology,
                                            const std::string& source);
  void clean_up();
  void remove_uncommitted();
  void step() const {
    if (step_) step_();
  }

  std::string folder_;
  size_t max_entries_ = kMaxEntries;
  int lock_ = -1;
  uint64_t last_ = 0;              // number given
  std::vector<uint64_t> commits_;  // oldest first; the last one starts
  std::optional<uint64_t> pending_;
  std::function<void()> step_;
};

}  // namespace turnpike::router
