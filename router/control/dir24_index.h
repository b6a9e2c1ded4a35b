// SPDX-License-Identifier: BSD-3-Clause
// Computes the writes to a Dir24 by which a prefix appears, changes or goes.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/dpdk/large_array.h"
#include "router/control/dir24.h"
#include "router/control/prefix_table.h"

namespace turnpike::router {

/// Knows the length of the prefix that each entry's value comes from. Values are those of the
/// prefixes in `table` (PrefixState::hop; 0: not there), which may be ahead: a batch first changes
/// all values there, then removes prefixes here, then adds and replaces.
class Dir24Index {
 public:
  using Writes = std::vector<Dir24::Write>;
  using Table = PrefixTable<config::Ipv4Prefix>;

  /// Room for `prefixes`, and for `groups` groups. Throws std::bad_alloc. `table` must outlive it.
  Dir24Index(uint32_t prefixes, uint32_t groups, const Table& table)
      : table_(table), room_(prefixes), lengths_(Dir24::kBlocks + size_t{groups} * Dir24::kGroup) {
    for (uint32_t g = groups; g-- > 0;) free_.push_back(Dir24::kBlocks + g * Dir24::kGroup);
  }

  /// B that it takes.
  static constexpr size_t memory(uint32_t groups) {
    return Dir24::kBlocks + size_t{groups} * (Dir24::kGroup + sizeof(uint32_t));
  }

  /// Adds a prefix. False: there is no room, and nothing was written; its value in the table must
  /// then be 0 and refuse() be called.
  bool add(const config::Ipv4Prefix& prefix, uint32_t value, Writes& writes);
  /// Changes the value of a prefix that was added.
  void replace(const config::Ipv4Prefix& prefix, uint32_t value, Writes& writes) {
    cover(prefix, value, writes);
  }
  /// Removes a prefix that was added, and whose value in the table is 0.
  void erase(const config::Ipv4Prefix& prefix, Writes& writes);
  /// Undoes what other changes of the batch may have taken from a prefix that add() refused.
  void refuse(const config::Ipv4Prefix& prefix, Writes& writes) { uncover(prefix, writes); }

 private:
  /// Of an entry: the length of its prefix plus one, 0: none; for a block also kHasGroup.
  static constexpr uint8_t kHasGroup = 0x80;
  struct Group {
    uint32_t at = 0;        // its first entry
    uint32_t prefixes = 0;  // longer than 24 bits
  };
  /// A prefix in the table with a value.
  struct Cover {
    uint8_t mark = 0;  // length plus one; 0: none
    uint32_t value = 0;
  };

  [[nodiscard]] Cover shorter(const config::Ipv4Prefix& prefix) const;
  [[nodiscard]] uint32_t value_at(uint32_t block) const;
  void write(uint32_t at, uint32_t value, Writes& writes);
  void overwrite(uint32_t begin, uint32_t end, uint8_t least, uint8_t most, const Cover& by,
                 Writes& writes);
  void change(const config::Ipv4Prefix& prefix, uint8_t least, const Cover& by, Writes& writes);
  void cover(const config::Ipv4Prefix& prefix, uint32_t value, Writes& writes);
  void uncover(const config::Ipv4Prefix& prefix, Writes& writes);

  const Table& table_;
  uint32_t room_;  // prefixes that may still be added
  LargeArray<uint8_t> lengths_;
  std::unordered_map<uint32_t, Group> groups_;  // by block
  std::vector<uint32_t> free_;                  // first entries of unused groups
};

}  // namespace turnpike::router
