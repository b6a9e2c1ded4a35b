// SPDX-License-Identifier: BSD-3-Clause
#include "sender/open_loop/constant_rate.h"

#include <algorithm>

namespace turnpike::sender {
namespace {

/// Time in ns that a frame takes at its stream's rate.
struct Gap {
  double frame;  // B, FCS included
  const config::Direction& line;

  double operator()(const config::PacketRate& r) const { return 1e9 / r.per_second; }
  double operator()(const config::L1Rate& r) const {
    return (frame + config::kFrameOnLine) / bytes_per_second(r.rate) * 1e9;
  }
  double operator()(const config::L2Rate& r) const {
    return frame / bytes_per_second(r.rate) * 1e9;
  }
  double operator()(const config::LineShare& r) const {
    const double size =
        frame - config::kFrameBeyondDatagram + static_cast<double>(line.overhead.count());
    return size / (bytes_per_second(line.rate) * r.share) * 1e9;
  }
};

}  // namespace

ConstantRate::ConstantRate(const config::Stream& stream, const config::Direction& line)
    : start_(stream.start), due_(stream.start) {
  sizes_.reserve(stream.frames.size());
  offsets_.reserve(stream.frames.size());
  for (const Bytes frame : stream.frames) {
    sizes_.push_back(static_cast<uint32_t>(frame.count()) - config::kFrameBeyondDatagram);
    offsets_.push_back(period_);
    period_ += std::visit(Gap{static_cast<double>(frame.count()), line}, stream.rate);
  }
}

uint64_t ConstantRate::skip_to(Nanos time) {
  const uint64_t before = number(), target = std::max(before, due_before(time));
  cycle_ = target / sizes_.size();
  index_ = target % sizes_.size();
  due_ = due_of(cycle_, index_);
  return target - before;
}

uint64_t ConstantRate::due_before(Nanos time) const {
  if (time <= start_) return 0;
  // Due times are rounded down: `time` may lie in the cycle after the quotient.
  auto cycle = static_cast<uint64_t>(static_cast<double>((time - start_).count()) / period_);
  while (cycle > 0 && due_of(cycle, 0) >= time) --cycle;
  while (due_of(cycle + 1, 0) < time) ++cycle;
  uint64_t n = cycle * sizes_.size();
  for (size_t i = 0; i < sizes_.size() && due_of(cycle, i) < time; ++i) ++n;
  return n;
}

double ConstantRate::packets_per_second() const {
  return static_cast<double>(sizes_.size()) / period_ * 1e9;
}

}  // namespace turnpike::sender
