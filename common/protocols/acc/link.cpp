// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/acc/link.h"

#include <algorithm>

#include "common/protocols/relaxed.h"

namespace turnpike::acc {

Link::Link(const ParamValues& params, unsigned shards)
    : LinkLaw({.rewritten = {kMeasureOffset, kMeasureOffset + sizeof(float)}, .classes = 2}),
      virtual_queue_(params[kQueue] == double{kAvd}),
      damping_(params[kDamping]),
      utilisation_(params[kUtilisation]),
      interval_(params[kInterval]),
      arrived_(shards) {}

bool Link::take_settings(LinkLaw& made, std::span<const uint16_t> /*groups*/) {
  const auto* m = dynamic_cast<const Link*>(&made);
  if (m == nullptr) return false;
  if (m->virtual_queue_ != virtual_queue_) {  // begins anew
    write(capacity_, 0);
    write(queue_, 0);
    write(delay_, 0);
    arrived_.take();
  }
  virtual_queue_ = m->virtual_queue_;
  damping_ = m->damping_;
  utilisation_ = m->utilisation_;
  interval_ = m->interval_;
  return true;
}

uint64_t Link::arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& /*link*/,
                      Nanos /*now*/) {
  if (burst.empty()) return 0;
  double bytes = 0;
  uint64_t refused = 0;
  for (size_t i = 0; i < burst.size(); ++i) {
    const LinkPacket& p = burst[i];
    if (p.admitted) bytes += p.size;
    if (p.header == nullptr) continue;
    const Header h = load(p.header);
    if (!credible(h)) {
      refused |= uint64_t{1} << i;
    } else if (h.role == Role::kOutOfBand) {
      const double delay = h.measure + read(delay_);
      wire::store_f32(p.header + kMeasureOffset, static_cast<float>(delay));
    }
  }
  if (virtual_queue_) arrived_.add(index, {bytes});
  return refused;
}

Nanos Link::update(const LinkState& link, Nanos now) {
  if (!virtual_queue_) return kNever;
  const double least = kMinCapacity * link.capacity, bytes = arrived_.take()[0];
  double capacity = read(capacity_);
  if (capacity == 0) {
    capacity = utilisation_ * link.capacity;
  } else {
    const double dt = to_seconds(now - last_);
    write(queue_, std::max(0.0, read(queue_) + bytes - capacity * dt));
    capacity += damping_ * (utilisation_ * link.capacity * dt - bytes);
    capacity = std::clamp(capacity, least, link.capacity);
  }
  write(capacity_, capacity);
  write(delay_, read(queue_) / capacity);
  last_ = now;
  return now + from_seconds(interval_);
}

size_t Link::gauges(std::span<Gauge> out) const {
  if (!virtual_queue_) return 0;
  return write_gauges(out, {{"virtual_capacity_mbps", read(capacity_) * 8e-6},
                            {"virtual_queue_bytes", read(queue_)},
                            {"virtual_delay_ms", read(delay_) * 1e3}});
}

}  // namespace turnpike::acc
