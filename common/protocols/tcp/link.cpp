// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/tcp/link.h"

#include "common/protocols/aqm/avq.h"
#include "common/protocols/aqm/disciplines.h"
#include "common/protocols/aqm/params.h"
#include "common/protocols/aqm/rio.h"
#include "common/protocols/tcp/header.h"

namespace turnpike::tcp {
namespace {

/// TCP's law at a link: asks the discipline D about each packet and applies its decided.
template <class D>
class Link final : public LinkLaw {
 public:
  Link(const ParamValues& params, unsigned shards, uint64_t seed)
      : LinkLaw({.rewritten = {0, kHeaderSize},
                 .marks_or_drops = D::kMarksOrDrops,
                 .wants_dequeue = D::kWantsDequeue}),
        discipline_(params, shards, seed),
        mark_(params[aqm::kSignal] == static_cast<double>(aqm::SignalBy::kMark)) {}

  bool take_settings(LinkLaw& made, std::span<const uint16_t> /*groups*/) override {
    const auto* m = dynamic_cast<const Link*>(&made);
    if (m == nullptr) return false;
    discipline_.take_settings(m->discipline_);
    mark_ = m->mark_;
    return true;
  }

  uint64_t arrive(unsigned shard, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override {
    discipline_.burst(shard, link, now);
    if constexpr (!D::kMarksOrDrops) return 0;
    double queue = link.queue;
    for (LinkPacket& p : burst) {
      const uint32_t flags = p.header != nullptr ? load(p.header) : 0;
      const aqm::Arrival a{.size = static_cast<double>(p.size),
                           .queue = queue,
                           .in_profile = (flags & kInProfile) != 0};
      p.action = action(discipline_.decide(shard, a), p, flags);
      if (!p.admitted || p.action == AqmAction::kDrop) continue;
      discipline_.enter(shard, a);
      queue += a.size;
    }
    return 0;
  }

  void depart(unsigned shard, std::span<LinkPacket> burst, const LinkState& /*link*/,
              Nanos /*now*/) override {
    for (const LinkPacket& p : burst)
      if (p.header != nullptr) discipline_.leave(shard, p.size, (load(p.header) & kInProfile) != 0);
  }
  Nanos update(const LinkState& link, Nanos now) override { return discipline_.update(link, now); }
  size_t gauges(std::span<Gauge> out) const override { return discipline_.gauges(out); }

 private:
  [[nodiscard]] AqmAction action(AqmAction decided, const LinkPacket& p, uint32_t flags) const {
    if (decided == AqmAction::kPass) return AqmAction::kPass;
    if (decided == AqmAction::kDrop || !mark_) return AqmAction::kDrop;
    if (p.header == nullptr) return AqmAction::kSignal;
    if ((flags & kCapable) == 0) return AqmAction::kDrop;
    store(flags | kMarked, p.header);
    return AqmAction::kPass;
  }

  D discipline_;
  bool mark_;
};

}  // namespace

std::unique_ptr<LinkLaw> make_link(const ParamValues& params, unsigned shards, uint64_t seed) {
  switch (static_cast<aqm::Discipline>(params[aqm::kDiscipline])) {
    case aqm::Discipline::kRed:
      return std::make_unique<Link<aqm::Red>>(params, shards, seed);
    case aqm::Discipline::kRem:
      return std::make_unique<Link<aqm::Rem>>(params, shards, seed);
    case aqm::Discipline::kAvq:
      return std::make_unique<Link<aqm::Avq>>(params, shards, seed);
    case aqm::Discipline::kRio:
      return std::make_unique<Link<aqm::Rio>>(params, shards, seed);
    case aqm::Discipline::kDropTail:
      break;
  }
  return std::make_unique<Link<aqm::DropTail>>(params, shards, seed);
}

}  // namespace turnpike::tcp
