// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/link/egress_link.h"

#include <algorithm>

#include "common/protocols/random.h"

namespace turnpike::router {

EgressLink::EgressLink(const config::Link& link, size_t direction, unsigned workers,
                       uint64_t run_seed, const Protocol* (*find)(std::string_view name))
    : name(link.name), shards(workers), ring(workers) {
  const config::Direction& d = link.directions[direction];
  rate = d.rate;
  capacity = bytes_per_second(d.rate);
  buffer = d.buffer.count();
  overhead = static_cast<uint32_t>(d.overhead.count());
  drain = d.drain;
  class_buffer.fill(static_cast<double>(buffer));
  const Protocol* p = find(d.law.protocol);
  if (p != nullptr && p->make_link_law != nullptr) {
    const uint64_t seed = link_seed(run_seed, link.name, direction);
    if (!d.classes.empty() && p->make_classed_law != nullptr) {
      std::vector<ClassRule> rules;
      for (const config::LinkClass& c : d.classes) {
        if (c.buffer.count() > 0)
          class_buffer[rules.size()] = static_cast<double>(c.buffer.count());
        rules.push_back(c.rule);
      }
      law = p->make_classed_law(d.law.params, rules, workers, seed);
      classifier = std::make_unique<Classifier>(d.classes);
      const auto outer = [](const ClassRule& r) { return r.parent; };
      if (std::ranges::max(rules, {}, outer).parent > 0) tree = std::move(rules);
    } else {
      law = p->make_link_law(d.law.params, workers, seed);
    }
    protocol = p->id;
    traits = law->traits();
    traits.classes = std::clamp(traits.classes, 1U, kMaxClasses);
  }
}

bool EgressLink::take_settings(EgressLink& made, std::span<const uint16_t> groups_from) {
  rate = made.rate;
  capacity = made.capacity;
  buffer = made.buffer;
  overhead = made.overhead;
  const bool goes_on = law && made.law && protocol == made.protocol &&
                       (classifier != nullptr) == (made.classifier != nullptr) &&
                       law->take_settings(*made.law, groups_from);
  const bool begins = !goes_on && (law || made.law);
  if (!goes_on) std::swap(law, made.law);
  protocol = made.protocol;
  traits = made.traits;
  groups = made.groups;
  std::swap(classifier, made.classifier);
  class_buffer = made.class_buffer;
  std::swap(tree, made.tree);
  audited = made.audited;
  if (audits.size() != made.audits.size()) std::swap(audits, made.audits);
  return !begins;
}

double EgressLink::update_virtual_queue(LinkShard& shard, Nanos now) {
  QueueView latest;
  uint64_t arrived = 0;
  for (const LinkShard& s : shards) {
    const auto view = s.virtual_queue.load();
    if (view && view->at >= latest.at && view->total >= latest.total) latest = *view;
    arrived += s.in_bytes.read();
  }
  latest = latest.later(now, arrived, capacity);
  shard.virtual_queue.store(latest);
  return latest.bytes;
}

}  // namespace turnpike::router
