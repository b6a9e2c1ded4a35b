// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/dir24_index.h"

#include <algorithm>

namespace turnpike::router {

namespace {

constexpr uint8_t kBlockLength = 24;

uint8_t mark_of(uint8_t length) { return static_cast<uint8_t>(length + 1); }

}  // namespace

Dir24Index::Cover Dir24Index::shorter(const config::Ipv4Prefix& prefix) const {
  const auto* node = table_.longest(prefix.address, prefix.length);
  if (node == nullptr) return {};
  return {.mark = mark_of(node->first.length), .value = node->second.hop};
}

uint32_t Dir24Index::value_at(uint32_t block) const {
  const uint8_t mark = lengths_[block] & static_cast<uint8_t>(~kHasGroup);
  if (mark == 0) return 0;
  const auto length = static_cast<uint8_t>(mark - 1);
  const auto* node = table_.find(config::network(config::Ipv4Prefix{block << 8, length}));
  return node == nullptr ? 0 : node->second.hop;
}

// Appends to the last write where it can.
void Dir24Index::write(uint32_t at, uint32_t value, Writes& writes) {
  if (!writes.empty()) {
    Dir24::Write& last = writes.back();
    if (last.at + last.count == at && last.value == value) return void(++last.count);
  }
  writes.push_back({.at = at, .count = 1, .value = value});
}

// Entries whose values come from prefixes with marks in [least, most] get another value.
void Dir24Index::overwrite(uint32_t begin, uint32_t end, uint8_t least, uint8_t most,
                           const Cover& by, Writes& writes) {
  for (uint32_t at = begin; at < end; ++at) {
    const uint8_t mark = lengths_[at] & static_cast<uint8_t>(~kHasGroup);
    const bool grouped = (lengths_[at] & kHasGroup) != 0;
    if (mark >= least && mark <= most) {
      lengths_[at] = static_cast<uint8_t>(by.mark | (grouped ? kHasGroup : 0));
      if (!grouped) write(at, by.value, writes);
    }
    if (!grouped || at >= Dir24::kBlocks) continue;
    const uint32_t group = groups_.at(at).at;
    overwrite(group, group + Dir24::kGroup, least, most, by, writes);
  }
}

// The same within a prefix, from marks of at least `least` to its own.
void Dir24Index::change(const config::Ipv4Prefix& prefix, uint8_t least, const Cover& by,
                        Writes& writes) {
  const uint8_t most = mark_of(prefix.length);
  const uint32_t block = prefix.address >> 8;
  if (prefix.length <= kBlockLength)
    return overwrite(block, block + (1U << (kBlockLength - prefix.length)), least, most, by,
                     writes);
  const auto group = groups_.find(block);
  if (group == groups_.end()) return;
  const uint32_t begin = group->second.at + (prefix.address & 0xff);
  overwrite(begin, begin + (1U << (32 - prefix.length)), least, most, by, writes);
}

void Dir24Index::cover(const config::Ipv4Prefix& prefix, uint32_t value, Writes& writes) {
  change(prefix, 0, {.mark = mark_of(prefix.length), .value = value}, writes);
}

void Dir24Index::uncover(const config::Ipv4Prefix& prefix, Writes& writes) {
  change(prefix, mark_of(prefix.length), shorter(prefix), writes);
}

bool Dir24Index::add(const config::Ipv4Prefix& prefix, uint32_t value, Writes& writes) {
  if (room_ == 0) return false;
  if (prefix.length > kBlockLength) {
    const uint32_t block = prefix.address >> 8;
    auto group = groups_.find(block);
    if (group == groups_.end()) {
      if (free_.empty()) return false;
      const uint32_t at = free_.back();
      free_.pop_back();
      const uint32_t all = value_at(block);
      for (uint32_t i = 0; i < Dir24::kGroup; ++i) lengths_[at + i] = lengths_[block];
      writes.push_back({.at = at, .count = Dir24::kGroup, .value = all});
      writes.push_back({.at = block, .count = 1, .value = at | Dir24::kGrouped});
      lengths_[block] |= kHasGroup;
      group = groups_.emplace(block, Group{.at = at}).first;
    }
    ++group->second.prefixes;
  }
  --room_;
  cover(prefix, value, writes);
  return true;
}

void Dir24Index::erase(const config::Ipv4Prefix& prefix, Writes& writes) {
  ++room_;
  uncover(prefix, writes);
  if (prefix.length <= kBlockLength) return;
  const uint32_t block = prefix.address >> 8;
  const auto group = groups_.find(block);
  if (--group->second.prefixes > 0) return;
  lengths_[block] &= static_cast<uint8_t>(~kHasGroup);
  writes.push_back({.at = block, .count = 1, .value = value_at(block)});
  free_.push_back(group->second.at);
  groups_.erase(group);
}

}  // namespace turnpike::router
