// SPDX-License-Identifier: BSD-3-Clause
// A link's shaper goes on with other classes or rings: no packet is lost or overtaken.
#include <algorithm>

#include "router/datapath/link/link_shaper.h"

namespace turnpike::router {
namespace {

/// Bits of the classes before `c`.
uint32_t below(unsigned c) { return (uint32_t{1} << c) - 1; }

size_t rings_of(const EgressLink& link) {
  return static_cast<size_t>(
      std::ranges::count_if(link.ring, [](const auto& ring) { return ring != nullptr; }));
}

}  // namespace

std::unique_ptr<LinkShaper> LinkShaper::successor(EgressLink& link, unsigned worker, Nanos slack,
                                                  unsigned classes) {
  auto made = std::make_unique<LinkShaper>(link, worker, slack);
  made->sources_.reserve((link.traits.classes + classes) * rings_of(link) + link.draining);
  return made;
}

void LinkShaper::add(const Source& source) {
  sources_.push_back(source);
  draining_ += source.draining ? 1 : 0;
}

void LinkShaper::add_sources() {
  sources_.clear();
  for (unsigned c = 0; c < link_.traits.classes; ++c) {
    begin_[c] = static_cast<unsigned>(sources_.size());
    for (const auto& ring : link_.ring)
      if (ring)
        add({.ring = ring.get(),
             .ring_class = static_cast<uint8_t>(c),
             .queue_class = static_cast<uint8_t>(c),
             .head = {}});
  }
  begin_[link_.traits.classes] = static_cast<unsigned>(sources_.size());
}

void LinkShaper::replace(LinkShaper& before, unsigned kept, bool moved) {
  free_ = before.free_;
  fraction_ = before.fraction_;
  sources_.clear();
  draining_ = 0;
  const unsigned classes = link_.traits.classes, last = classes - 1;
  bool blocking = false;
  for (unsigned c = 0; c < classes; ++c) {
    begin_[c] = static_cast<unsigned>(sources_.size());
    for (Source& s : before.sources_) {
      const bool goes_on = s.queue_class == c && c < kept;
      const bool ends = s.queue_class >= kept && c == last;
      if ((!goes_on && !ends) || (goes_on && moved && !s.draining) || !s.ready()) continue;
      Source rest = s;
      rest.queue_class = static_cast<uint8_t>(c);
      rest.draining = true;
      rest.blocking = s.blocking || ends;
      blocking = blocking || rest.blocking;
      add(rest);
    }
    auto own = before.sources_.begin();
    for (const auto& ring : link_.ring) {
      if (!ring) continue;
      Source s{.ring = ring.get(),
               .ring_class = static_cast<uint8_t>(c),
               .queue_class = static_cast<uint8_t>(c),
               .head = {}};
      if (c < kept && moved) {  // packets that were taken out of the ring already
        own = std::find_if(own, before.sources_.end(),
                           [&](const Source& o) { return o.queue_class == c && !o.draining; });
        s.next = own->next;
        s.count = own->count;
        s.head = own->head;
        ++own;
      }
      add(s);
    }
  }
  begin_[classes] = static_cast<unsigned>(sources_.size());
  held_ = blocking ? (before.held_ & below(kept)) | (below(last) & ~below(kept)) : 0;
  link_.draining = draining_;
  read_link();
}

void LinkShaper::drop_drained() {
  bool blocking = false;
  for (size_t i = 0; i < sources_.size();) {
    Source& s = sources_[i];
    if (!s.draining || s.ready()) {
      blocking = blocking || s.blocking;
      ++i;
      continue;
    }
    sources_.erase(sources_.begin() + static_cast<std::ptrdiff_t>(i));
    --draining_;
    for (unsigned& first : begin_) first -= first > i ? 1 : 0;
  }
  if (!blocking) held_ = 0;
}

bool LinkShaper::drains(const LinkRing* ring) const {
  return std::ranges::any_of(sources_, [&](const Source& s) { return s.ring == ring; });
}

}  // namespace turnpike::router
