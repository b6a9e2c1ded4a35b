// SPDX-License-Identifier: BSD-3-Clause
// Lists of paths that many routes share, each stored once and known by a number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "router/control/route_sink.h"

namespace turnpike::router {

/// Paths in another order are the same list.
class PathLists {
 public:
  /// The number of a list, with a reference more.
  uint32_t take(std::vector<Path> paths) {
    std::ranges::sort(paths, {}, [](const Path& p) { return std::pair(p.link, p.gateway); });
    const auto [at, fresh] = numbers_.emplace(std::move(paths), 0);
    if (fresh) {
      if (free_.empty()) {
        free_.push_back(static_cast<uint32_t>(lists_.size()));
        lists_.push_back({});
      }
      at->second = free_.back();
      free_.pop_back();
      lists_[at->second].paths = &at->first;
    }
    ++lists_[at->second].references;
    return at->second;
  }
  void hold(uint32_t number) { ++lists_[number].references; }
  void release(uint32_t number) {
    if (--lists_[number].references > 0) return;
    numbers_.erase(*lists_[number].paths);
    free_.push_back(number);
  }
  [[nodiscard]] const std::vector<Path>& operator[](uint32_t number) const {
    return *lists_[number].paths;
  }
  [[nodiscard]] size_t size() const { return numbers_.size(); }

 private:
  struct Hash {
    size_t operator()(const std::vector<Path>& paths) const {
      constexpr uint64_t kMix = 0x9e3779b97f4a7c15;
      uint64_t h = paths.size();
      const auto mix = [&](uint64_t v) { h = (h ^ v) * kMix ^ h >> 29; };
      for (const Path& p : paths) {
        mix(p.link << 16 | p.weight);
        if (const auto* v4 = std::get_if<config::Ipv4>(&p.gateway)) mix(*v4);
        if (const auto* v6 = std::get_if<config::Ipv6>(&p.gateway))
          for (const uint8_t byte : *v6) mix(byte);
      }
      return h;
    }
  };
  struct List {
    const std::vector<Path>* paths = nullptr;  // a key of numbers_
    uint32_t references = 0;
  };

  std::unordered_map<std::vector<Path>, uint32_t, Hash> numbers_;
  std::vector<List> lists_;
  std::vector<uint32_t> free_;
};

}  // namespace turnpike::router
